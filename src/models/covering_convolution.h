// A convolution whose kernel covers the whole map, such as LeNet-5's third: a matrix product, which
// is far cheaper than the setup of a convolution.
#pragma once

#include <torch/torch.h>

namespace lockstep::internal::models {

/// A Conv2d(in, out, kernel) with its parameters. On maps of kernel×kernel it computes as a linear
/// layer; on larger maps as a Conv2d.
class CoveringConv2dImpl : public torch::nn::Conv2dImpl {
 public:
  CoveringConv2dImpl(std::int64_t in, std::int64_t out, std::int64_t kernel)
      : torch::nn::Conv2dImpl(torch::nn::Conv2dOptions(in, out, kernel)) {}

  torch::Tensor forward(const torch::Tensor& maps) {
    const bool covers = maps.dim() == 4 && maps.sizes().slice(1) == weight.sizes().slice(1);
    if (!covers) return torch::nn::Conv2dImpl::forward(maps);
    return torch::linear(maps.flatten(1), weight.flatten(1), bias).unsqueeze(2).unsqueeze(3);
  }
};
TORCH_MODULE(CoveringConv2d);

}  // namespace lockstep::internal::models
