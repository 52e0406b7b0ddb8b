#include "models/lenet5.h"

#include "models/average_pool.h"
#include "models/covering_convolution.h"
#include "models/model_names.h"

namespace lockstep::internal::models {

namespace nn = torch::nn;

LeNet5Impl::LeNet5Impl()
    : Classifier("lenet5", kImages),
      // In braces, so that a seed draws the weights in the order of the layers, as PyTorch does:
      // arguments in parentheses may be made in any order.
      features{nn::Conv2d(1, 6, 5),        nn::Tanh(), AveragePool2x2(),  // 28×28, then 14×14
               nn::Conv2d(6, 16, 5),       nn::Tanh(), AveragePool2x2(),  // 10×10, then 5×5
               CoveringConv2d(16, 120, 5), nn::Tanh()},                   // 1×1
      classifier{nn::Linear(120, 84), nn::Tanh(), nn::Linear(84, kClasses)} {
  register_module("features", features);
  register_module("classifier", classifier);
}

torch::Tensor LeNet5Impl::scores(const torch::Tensor& images) {
  return classifier->forward(features->forward(images).flatten(1));
}

}  // namespace lockstep::internal::models
