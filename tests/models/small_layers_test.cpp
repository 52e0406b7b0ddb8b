// Compares our pools with torch's, to the bit, and a covering convolution with a Conv2d.
#include "models/average_pool.h"
#include "models/covering_convolution.h"
#include "models/max_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::internal::models {
namespace {

struct Outcome {
  torch::Tensor pooled;
  torch::Tensor gradient;
};

template <typename Pool>
Outcome outcome_of(const Pool& pool, const torch::Tensor& images) {
  const torch::Tensor input = images.detach().clone().requires_grad_();
  const torch::Tensor pooled = pool(input);
  torch::manual_seed(2);
  pooled.backward(torch::randn(pooled.sizes(), pooled.options()));
  return {pooled.detach(), input.grad()};
}

/// Compares bit for bit, but all NaNs are equal.
void expect_same(const torch::Tensor& ours, const torch::Tensor& theirs) {
  ASSERT_EQ(ours.sizes(), theirs.sizes());
  ASSERT_EQ(ours.scalar_type(), theirs.scalar_type());
  EXPECT_TRUE(ours.isnan().equal(theirs.isnan()));
  EXPECT_TRUE(ours.nan_to_num(7).equal(theirs.nan_to_num(7)));
}

torch::Tensor torch_max(const torch::Tensor& images) {
  return torch::max_pool2d(images, 2);
}
torch::Tensor torch_average(const torch::Tensor& images) {
  return torch::avg_pool2d(images, 2);
}

void expect_as_torch(const torch::Tensor& images) {
  for (const auto& [our_pool, torch_pool] :
       {std::pair{&max_pool_2x2, &torch_max}, {&average_pool_2x2, &torch_average}}) {
    const Outcome ours = outcome_of(our_pool, images);
    const Outcome theirs = outcome_of(torch_pool, images);
    expect_same(ours.pooled, theirs.pooled);
    expect_same(ours.gradient, theirs.gradient);
  }
}

TEST(Pool, EqualsTorchs) {
  torch::manual_seed(1);
  for (auto type : {torch::kFloat32, torch::kFloat64})
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{1, 1, 2, 2}, {3, 5, 6, 4}, {2, 3, 2, 10}, {64, 16, 32, 32}})
      expect_as_torch(torch::randn(shape, type));
}

TEST(MaxPool, TakesTheFirstOfEquals) {
  expect_as_torch(torch::zeros({2, 3, 4, 4}));
  expect_as_torch(torch::randint(0, 2, {8, 4, 16, 16}).to(torch::kFloat32));
  torch::Tensor zeros = torch::zeros({1, 1, 2, 2});
  zeros[0][0][0][0] = -0.0;
  expect_as_torch(zeros);
}

TEST(Pool, TreatsNanLikeTorch) {
  torch::manual_seed(3);
  torch::Tensor images = torch::randn({16, 4, 8, 8});
  const torch::Tensor which = torch::randint(0, 5, images.sizes());
  images.masked_fill_(which == 0, std::numeric_limits<float>::quiet_NaN());
  images.masked_fill_(which == 1, std::numeric_limits<float>::infinity());
  images.masked_fill_(which == 2, -std::numeric_limits<float>::infinity());
  expect_as_torch(images);
}

TEST(Pool, CallsTorchForUnusualInputs) {
  torch::manual_seed(4);
  expect_as_torch(torch::randn({2, 3, 5, 7}));                        // odd sizes
  expect_as_torch(torch::randn({3, 4, 4}));                           // no batch
  expect_as_torch(torch::randn({2, 4, 6, 8}).permute({0, 1, 3, 2}));  // not contiguous
  expect_as_torch(torch::randn({2, 4, 6, 8}).to(torch::MemoryFormat::ChannelsLast));
  EXPECT_EQ(max_pool_2x2(torch::zeros({0, 3, 4, 4})).sizes(),
            (std::vector<std::int64_t>{0, 3, 2, 2}));
}

TEST(Pool, WorksWithoutGradients) {
  torch::NoGradGuard no_grad;
  const torch::Tensor images = torch::randn({2, 3, 4, 4});
  EXPECT_TRUE(max_pool_2x2(images).equal(torch_max(images)));
  EXPECT_TRUE(average_pool_2x2(images).equal(torch_average(images)));
}

TEST(Pool, SupportsGradientsThatAreNotContiguous) {
  const torch::Tensor images = torch::randn({2, 3, 4, 4});
  auto gradient_of = [&](auto pool) {
    const torch::Tensor input = images.clone().requires_grad_();
    pool(input).backward(torch::ones({2, 3, 1, 1}).expand({2, 3, 2, 2}));
    return input.grad();
  };
  EXPECT_TRUE(gradient_of(&max_pool_2x2).equal(gradient_of(&torch_max)));
  EXPECT_TRUE(gradient_of(&average_pool_2x2).equal(gradient_of(&torch_average)));
}

TEST(Pool, IsATorchPool) {
  torch::nn::Sequential layers;
  layers->push_back(MaxPool2x2());
  layers->push_back(AveragePool2x2());
  EXPECT_NE(std::dynamic_pointer_cast<torch::nn::MaxPool2dImpl>(layers->ptr(0)), nullptr);
  EXPECT_NE(std::dynamic_pointer_cast<torch::nn::AvgPool2dImpl>(layers->ptr(1)), nullptr);
}

/// The layer's output and gradients, and those of a Conv2d with the same weights.
void expect_as_convolution(CoveringConv2dImpl& layer, const torch::Tensor& maps) {
  auto run = [&](auto forward) {
    layer.zero_grad();
    const torch::Tensor input = maps.detach().clone().requires_grad_();
    const torch::Tensor output = forward(input);
    torch::manual_seed(2);
    output.backward(torch::randn(output.sizes(), output.options()));
    return std::vector{output.detach(), input.grad(), layer.weight.grad().clone(),
                       layer.bias.grad().clone()};
  };
  const auto ours = run([&](const torch::Tensor& x) { return layer.forward(x); });
  const auto theirs = run([&](const torch::Tensor& x) { return layer.Conv2dImpl::forward(x); });
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].sizes(), theirs[i].sizes());
    EXPECT_TRUE(ours[i].allclose(theirs[i], 1e-12, 1e-12)) << i;
  }
}

TEST(CoveringConvolution, IsAConvolution) {
  torch::manual_seed(1);
  CoveringConv2d layer(16, 120, 5);
  layer->to(torch::kFloat64);
  expect_as_convolution(*layer, torch::randn({4, 16, 5, 5}, torch::kFloat64));
  expect_as_convolution(*layer, torch::randn({1, 16, 5, 5}, torch::kFloat64));
  expect_as_convolution(*layer, torch::randn({2, 16, 7, 6}, torch::kFloat64));  // not covered
}

}  // namespace
}  // namespace lockstep::internal::models
