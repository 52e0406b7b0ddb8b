// What the trainer knows of a model: images go in, one score a class comes out.
#pragma once

#include "data/images.h"

#include <torch/torch.h>

#include <string>

namespace lockstep::models {

class Classifier : public torch::nn::Module {
 public:
  /// The shape of the images that the model takes.
  const data::ImageShape& images() const { return images_; }

  /// The scores (logits) of each image: [N, channels, height, width] to [N, classes]. Throws
  /// UsageError for images of a shape that the model does not take.
  torch::Tensor forward(const torch::Tensor& images);

 protected:
  /// `name` is what make_model calls it.
  Classifier(std::string name, const data::ImageShape& images)
      : torch::nn::Module(std::move(name)), images_(images) {}

  /// forward, for images of the right shape.
  virtual torch::Tensor scores(const torch::Tensor& images) = 0;

 private:
  const data::ImageShape images_;
};

}  // namespace lockstep::models
