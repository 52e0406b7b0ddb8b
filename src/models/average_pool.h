// Average pooling over windows of 2×2: on a few small images, as a worker of LeNet-5 has them,
// torch's own takes ten times as long.
#pragma once

#include <torch/torch.h>

namespace lockstep::models {

/// What torch::avg_pool2d(images, 2) gives, to the bit, and its gradients, too. Other layouts and
/// types than plain float32 and float64 are torch's to do.
torch::Tensor average_pool_2x2(const torch::Tensor& images);

/// An AvgPool2d(2), for whoever looks at the layers.
class AveragePool2x2Impl : public torch::nn::AvgPool2dImpl {
 public:
  AveragePool2x2Impl() : torch::nn::AvgPool2dImpl(2) {}
  torch::Tensor forward(const torch::Tensor& images) { return average_pool_2x2(images); }
};
TORCH_MODULE(AveragePool2x2);

}  // namespace lockstep::models
