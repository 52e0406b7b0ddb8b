// Max pooling over windows of 2×2. Torch's own looks at every window for itself and keeps 64 bits
// for each of its choices; this one keeps 2, in a byte, and takes a few percent less of a VGG's
// step.
#pragma once

#include <torch/torch.h>

namespace lockstep::models {

/// What torch::max_pool2d(images, 2) gives, to the bit, and its gradients, too. Other layouts and
/// types than plain float32 and float64 are torch's to do.
torch::Tensor max_pool_2x2(const torch::Tensor& images);

/// A MaxPool2d(2), for whoever looks at the layers.
class MaxPool2x2Impl : public torch::nn::MaxPool2dImpl {
 public:
  MaxPool2x2Impl() : torch::nn::MaxPool2dImpl(2) {}
  torch::Tensor forward(const torch::Tensor& images) { return max_pool_2x2(images); }
};
TORCH_MODULE(MaxPool2x2);

}  // namespace lockstep::models
