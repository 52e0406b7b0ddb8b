// The interface of a model for the trainer: images in, one score per class out.
#pragma once

#include "data/images.h"

#include <torch/torch.h>

#include <string>

namespace lockstep::internal::models {

class Classifier : public torch::nn::Module {
 public:
  /// The shape of the model's images.
  const data::ImageShape& images() const { return images_; }

  /// The scores (logits) of each image: [N, channels, height, width] to [N, classes]. Throws
  /// UsageError for images of another shape.
  torch::Tensor forward(const torch::Tensor& images);

 protected:
  /// `name` is the name for make_model.
  Classifier(std::string name, const data::ImageShape& images)
      : torch::nn::Module(std::move(name)), images_(images) {}

  /// The implementation of forward, for images of the right shape.
  virtual torch::Tensor scores(const torch::Tensor& images) = 0;

 private:
  const data::ImageShape images_;
};

}  // namespace lockstep::internal::models
