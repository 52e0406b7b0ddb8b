// Average pooling with 2×2 windows. On a few small images, as a worker of LeNet-5 has them, torch's
// takes ten times as long.
#pragma once

#include <torch/torch.h>

namespace lockstep::internal::models {

/// The same as torch::avg_pool2d(images, 2) to the bit, with gradients. Calls torch for layouts and
/// types other than plain float32 and float64.
torch::Tensor average_pool_2x2(const torch::Tensor& images);

/// Derives from AvgPool2d(2), for code that inspects layers.
class AveragePool2x2Impl : public torch::nn::AvgPool2dImpl {
 public:
  AveragePool2x2Impl() : torch::nn::AvgPool2dImpl(2) {}
  torch::Tensor forward(const torch::Tensor& images) { return average_pool_2x2(images); }
};
TORCH_MODULE(AveragePool2x2);

}  // namespace lockstep::internal::models
