// Our max pool against torch's, to the bit.
#include "models/max_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::models {
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

/// Bit for bit, but one that is no number equals another.
void expect_same(const torch::Tensor& ours, const torch::Tensor& theirs) {
  ASSERT_EQ(ours.sizes(), theirs.sizes());
  ASSERT_EQ(ours.scalar_type(), theirs.scalar_type());
  EXPECT_TRUE(ours.isnan().equal(theirs.isnan()));
  EXPECT_TRUE(ours.nan_to_num(7).equal(theirs.nan_to_num(7)));
}

void expect_as_torch(const torch::Tensor& images) {
  const Outcome ours = outcome_of(&max_pool_2x2, images);
  const Outcome theirs =
      outcome_of([](const torch::Tensor& x) { return torch::max_pool2d(x, 2); }, images);
  expect_same(ours.pooled, theirs.pooled);
  expect_same(ours.gradient, theirs.gradient);
}

TEST(MaxPool, IsTorchs) {
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

TEST(MaxPool, TreatsWhatIsNoNumberAsTorchDoes) {
  torch::manual_seed(3);
  torch::Tensor images = torch::randn({16, 4, 8, 8});
  const torch::Tensor which = torch::randint(0, 5, images.sizes());
  images.masked_fill_(which == 0, std::numeric_limits<float>::quiet_NaN());
  images.masked_fill_(which == 1, std::numeric_limits<float>::infinity());
  images.masked_fill_(which == 2, -std::numeric_limits<float>::infinity());
  expect_as_torch(images);
}

TEST(MaxPool, LeavesWhatIsUnusualToTorch) {
  torch::manual_seed(4);
  expect_as_torch(torch::randn({2, 3, 5, 7}));                        // odd sizes
  expect_as_torch(torch::randn({3, 4, 4}));                           // no batch
  expect_as_torch(torch::randn({2, 4, 6, 8}).permute({0, 1, 3, 2}));  // not contiguous
  expect_as_torch(torch::randn({2, 4, 6, 8}).to(torch::MemoryFormat::ChannelsLast));
  EXPECT_EQ(max_pool_2x2(torch::zeros({0, 3, 4, 4})).sizes(),
            (std::vector<std::int64_t>{0, 3, 2, 2}));
}

TEST(MaxPool, WorksWithoutGradients) {
  torch::NoGradGuard no_grad;
  const torch::Tensor images = torch::randn({2, 3, 4, 4});
  EXPECT_TRUE(max_pool_2x2(images).equal(torch::max_pool2d(images, 2)));
}

TEST(MaxPool, TakesAGradientThatIsNotContiguous) {
  const torch::Tensor images = torch::randn({2, 3, 4, 4});
  auto gradient_of = [&](auto pool) {
    const torch::Tensor input = images.clone().requires_grad_();
    pool(input).backward(torch::ones({2, 3, 1, 1}).expand({2, 3, 2, 2}));
    return input.grad();
  };
  EXPECT_TRUE(gradient_of(&max_pool_2x2).equal(gradient_of([](const torch::Tensor& x) {
    return torch::max_pool2d(x, 2);
  })));
}

TEST(MaxPool, IsAMaxPoolToWhoeverLooksAtTheLayers) {
  torch::nn::Sequential layers;
  layers->push_back(MaxPool2x2());
  EXPECT_NE(std::dynamic_pointer_cast<torch::nn::MaxPool2dImpl>(layers->ptr(0)), nullptr);
}

}  // namespace
}  // namespace lockstep::models
