// VGG (Simonyan and Zisserman, 2014) with batch norm, for images of 3×32×32: five stages of 3×3
// convolutions, each ended by a max pool that halves the image, then one linear layer from the
// remaining 512 values. VGG-11 has 9,231,114 parameters.
#pragma once

#include "models/classifier.h"
#include "models/model_names.h"

#include <torch/torch.h>

namespace lockstep::internal::models {

/// The parameters and buffers have the names of torchvision's vgg…_bn (features.0.weight,
/// features.1.running_mean …), except for the single linear layer: classifier.weight,
/// classifier.bias. PyTorch's default initialisation.
struct VggImpl : Classifier {
  static constexpr data::ImageShape kImages = kColourImages;

  /// `depth` counts the layers with weights. REQUIRES: depth is 11, 13, 16 or 19.
  explicit VggImpl(int depth);

  torch::nn::Sequential features;
  torch::nn::Linear classifier;

 protected:
  torch::Tensor scores(const torch::Tensor& images) override;
};
TORCH_MODULE(Vgg);

/// Appends a part of a stage: a 3×3 convolution that keeps the image's size, batch norm, ReLU.
void append_convolution(torch::nn::Sequential& layers, int channels_in, int channels_out);

}  // namespace lockstep::internal::models
