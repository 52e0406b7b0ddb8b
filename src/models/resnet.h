// ResNet (He et al., 2015) for images of 3×32×32: a 3×3 stem without max pool, four layers of basic
// blocks of which all but the first halve the image, an average over the remaining 4×4 and one
// linear layer. ResNet-18 has 11,173,962 parameters.
#pragma once

#include <lockstep/sync_batch_norm.h>

#include "models/classifier.h"
#include "models/model_names.h"

#include <torch/torch.h>

namespace lockstep::internal::models {

/// Two 3×3 convolutions with batch norm, added to the input. If the shape changes, a 1×1
/// convolution with batch norm converts the input: `downsample`, empty otherwise. SyncBatchNorm is
/// torch's batch norm until it has a group.
struct BasicBlockImpl : torch::nn::Module {
  BasicBlockImpl(int channels_in, int channels_out, int stride);

  torch::Tensor forward(const torch::Tensor& input);

  torch::nn::Conv2d conv1;
  SyncBatchNorm bn1;
  torch::nn::Conv2d conv2;
  SyncBatchNorm bn2;
  torch::nn::Sequential downsample;
};
TORCH_MODULE(BasicBlock);

/// The parameters and buffers have torchvision's names (conv1.weight, bn1.running_mean,
/// layer2.0.downsample.0.weight, fc.bias …). PyTorch's default initialisation.
struct ResNetImpl : Classifier {
  static constexpr data::ImageShape kImages = kColourImages;

  /// `depth` counts the layers with weights, without `downsample`. REQUIRES: depth is 18 or 34.
  explicit ResNetImpl(int depth);

  torch::nn::Conv2d conv1;
  SyncBatchNorm bn1;
  torch::nn::Sequential layer1, layer2, layer3, layer4;
  torch::nn::Linear fc;

 protected:
  torch::Tensor scores(const torch::Tensor& images) override;
};
TORCH_MODULE(ResNet);

}  // namespace lockstep::internal::models
