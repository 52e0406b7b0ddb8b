// What the trainer knows of a model: images go in, one score a class comes out.
#pragma once

#include <torch/torch.h>

namespace lockstep::models {

class Classifier : public torch::nn::Module {
 public:
  /// The scores (logits) of each image: [N, channels, height, width] to [N, classes]. Throws
  /// UsageError for images of a shape that the model does not take.
  virtual torch::Tensor forward(torch::Tensor images) = 0;
};

}  // namespace lockstep::models
