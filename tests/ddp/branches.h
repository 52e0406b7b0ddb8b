// Common parts of the ddp tests: a module whose gradients have a closed form, a function without a
// gradient, and options.
#pragma once

#include <lockstep/ddp.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lockstep::internal::testing {

/// Every parameter has a bucket of its own.
inline const DdpOptions kSmallBuckets{.first_bucket_bytes = 1, .bucket_bytes = 1};
/// The same, and parameters may have no gradient.
inline const DdpOptions kAllowUnused{
    .first_bucket_bytes = 1, .bucket_bytes = 1, .allow_unused = true};

/// Two layers of two weights and a bias. Of layer(ones).sum() × f, every gradient is f.
struct Branches : torch::nn::Module {
  Branches() {
    left = register_module("left", torch::nn::Linear(2, 1));
    right = register_module("right", torch::nn::Linear(2, 1));
    to(torch::kFloat64);
  }
  static torch::Tensor sum_of(torch::nn::Linear& layer) {
    return layer(torch::ones({1, 2}, torch::kFloat64)).sum();
  }
  torch::Tensor left_sum() { return sum_of(left); }
  torch::Tensor right_sum() { return sum_of(right); }
  torch::Tensor sum() { return left_sum() + right_sum(); }

  torch::nn::Linear left = nullptr, right = nullptr;
};

/// Identity; its backward returns no gradient.
struct NoGradient : torch::autograd::Function<NoGradient> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& input) {
    return input.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list) {
    return {torch::Tensor()};
  }
};

inline bool all_are(const torch::Tensor& tensor, double value) {
  return tensor.defined() && tensor.equal(torch::full_like(tensor, value));
}
inline bool gradients_are(const torch::nn::Linear& layer, double value) {
  return all_are(layer->weight.grad(), value) && all_are(layer->bias.grad(), value);
}

/// One backward whose averaged gradients are 1.5 on two ranks.
inline void expect_averages(Branches& net, const Group& group) {
  net.zero_grad();
  (net.sum() * (group.rank() + 1)).backward();
  EXPECT_TRUE(gradients_are(net.left, 1.5));
  EXPECT_TRUE(gradients_are(net.right, 1.5));
}

}  // namespace lockstep::internal::testing
