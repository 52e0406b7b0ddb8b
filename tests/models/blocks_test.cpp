// The gradients of the models' building blocks equal difference quotients.
#include "base/random.h"
#include "models/model.h"
#include "models/resnet.h"
#include "models/vgg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace lockstep::internal::models {
namespace {

torch::Tensor random_tensor(std::initializer_list<std::int64_t> shape, std::uint64_t seed) {
  torch::Tensor tensor = torch::empty(torch::IntArrayRef(shape), torch::kFloat64);
  Random random(seed);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_ptr<double>()[i] = 2 * random.uniform() - 1;
  return tensor;
}

using Forward = std::function<torch::Tensor(const torch::Tensor&)>;

/// Checks the gradient of every element of `tensors`, for a loss that weighs all outputs
/// differently.
void expect_difference_quotients(const Forward& forward, const torch::Tensor& input,
                                 std::vector<torch::Tensor> tensors) {
  constexpr double kStep = 1e-5;
  torch::Tensor factors;
  auto loss = [&] {
    const torch::Tensor output = forward(input);
    if (!factors.defined()) factors = random_tensor({output.numel()}, 3).view_as(output);
    return (output * factors).sum();
  };
  loss().backward();
  torch::NoGradGuard no_grad;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    auto* values = tensors[k].data_ptr<double>();
    const torch::Tensor gradient = tensors[k].grad().contiguous();
    EXPECT_EQ(gradient.numel(), tensors[k].numel());
    for (std::int64_t i = 0; i < gradient.numel(); ++i) {
      const double kept = values[i];
      values[i] = kept + kStep;
      const double above = loss().item<double>();
      values[i] = kept - kStep;
      const double below = loss().item<double>();
      values[i] = kept;
      const double computed = gradient.data_ptr<double>()[i];
      ASSERT_NEAR(computed, (above - below) / (2 * kStep), 1e-6 * std::max(1.0, std::abs(computed)))
          << "tensor " << k << ", element " << i;
    }
  }
}

void check_block(const std::shared_ptr<torch::nn::Module>& block, const Forward& forward,
                 std::size_t parameters) {
  convert(*block, DataType::float64);
  const torch::Tensor input = random_tensor({3, 2, 6, 6}, 1).requires_grad_();
  std::vector<torch::Tensor> tensors = block->parameters();
  ASSERT_EQ(tensors.size(), parameters);
  tensors.push_back(input);
  expect_difference_quotients(forward, input, tensors);
}

TEST(Blocks, AConvolutionWithBatchNormHasCorrectGradients) {
  torch::manual_seed(1);
  torch::nn::Sequential block;
  append_convolution(block, 2, 3);
  check_block(
      block.ptr(), [&](const torch::Tensor& input) { return block->forward(input); }, 4);
}

TEST(Blocks, AResidualBlockHasCorrectGradients) {
  torch::manual_seed(1);
  BasicBlock block(2, 2, 1);
  check_block(
      block.ptr(), [&](const torch::Tensor& input) { return block->forward(input); }, 6);
}

TEST(Blocks, AResidualBlockThatHalvesTheImageHasCorrectGradients) {
  torch::manual_seed(1);
  BasicBlock block(2, 4, 2);
  EXPECT_EQ(block->forward(torch::rand({3, 2, 6, 6})).sizes().vec(),
            (std::vector<std::int64_t>{3, 4, 3, 3}));
  check_block(
      block.ptr(), [&](const torch::Tensor& input) { return block->forward(input); }, 9);
}

}  // namespace
}  // namespace lockstep::internal::models
