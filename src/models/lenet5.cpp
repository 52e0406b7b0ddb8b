#include "models/lenet5.h"

#include <lockstep/error.h>

#include <fmt/format.h>

namespace lockstep::models {

namespace nn = torch::nn;

LeNet5Impl::LeNet5Impl()
    : features(nn::Conv2d(1, 6, 5), nn::Tanh(), nn::AvgPool2d(2),   // 28×28, then 14×14
               nn::Conv2d(6, 16, 5), nn::Tanh(), nn::AvgPool2d(2),  // 10×10, then 5×5
               nn::Conv2d(16, 120, 5), nn::Tanh()),                 // 1×1
      classifier(nn::Linear(120, 84), nn::Tanh(), nn::Linear(84, 10)) {
  register_module("features", features);
  register_module("classifier", classifier);
}

torch::Tensor LeNet5Impl::forward(torch::Tensor images) {
  if (images.dim() != 4 || images.size(1) != 1 || images.size(2) != 32 || images.size(3) != 32)
    throw UsageError(
        fmt::format("lenet5 takes images of [N, 1, 32, 32], got [{}]: pad or resize them",
                    fmt::join(images.sizes(), ", ")));
  return classifier->forward(features->forward(images).flatten(1));
}

}  // namespace lockstep::models
