// LeNet-5 (LeCun et al., 1998) with tanh and average pooling: 61,706 parameters for images of
// 1×32×32. MNIST's 28×28 images are padded by 2 on every side.
#pragma once

#include "models/classifier.h"
#include "models/model_names.h"

#include <torch/torch.h>

namespace lockstep::internal::models {

/// The parameters have PyTorch's names (features.0.weight … classifier.2.bias) and PyTorch's
/// default initialisation, drawn from libtorch's generator: call torch::manual_seed first for
/// reproducible weights.
struct LeNet5Impl : Classifier {
  static constexpr data::ImageShape kImages = kGrayImages;

  LeNet5Impl();

  torch::nn::Sequential features;
  torch::nn::Sequential classifier;

 protected:
  torch::Tensor scores(const torch::Tensor& images) override;
};
TORCH_MODULE(LeNet5);

}  // namespace lockstep::internal::models
