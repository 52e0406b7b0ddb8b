#include "optim/sgd.h"

#include <lockstep/error.h>

#include "base/random.h"
#include "base/vector_unit.h"
#include "optim/sgd_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace lockstep::internal::optim {
namespace {

TEST(Sgd, FollowsItsClosedForm) {
  // With a constant gradient, plain SGD moves along a straight line.
  std::vector<double> weights{1, 2, 3};
  const std::vector<double> gradients{1, -2, 0.5};
  auto sgd = make_sgd<double>(weights, gradients, {.learning_rate = 0.1});
  for (int step = 0; step < 10; ++step) sgd->step(0, 3);
  EXPECT_NEAR(weights[0], 1 - 1, 1e-12);
  EXPECT_NEAR(weights[1], 2 + 2, 1e-12);
  EXPECT_NEAR(weights[2], 3 - 0.5, 1e-12);
}

TEST(Sgd, MomentumSumsTheGeometricSeries) {
  std::vector<double> weights{0};
  const std::vector<double> gradients{1};
  auto sgd = make_sgd<double>(weights, gradients, {.learning_rate = 1, .momentum = 0.5});
  double expected = 0;
  for (int step = 1; step <= 8; ++step) {
    sgd->step(0, 1);
    expected -= 2 * (1 - std::pow(0.5, step));
    ASSERT_NEAR(weights[0], expected, 1e-12);
  }
}

TEST(Sgd, WeightDecayShrinksGeometrically) {
  std::vector<float> weights{8};
  const std::vector<float> gradients{0};
  auto sgd = make_sgd<float>(weights, gradients, {.learning_rate = 0.5, .weight_decay = 1});
  for (int step = 0; step < 3; ++step) sgd->step(0, 1);
  EXPECT_FLOAT_EQ(weights[0], 1);
}

TEST(Sgd, UpdatesOnlyItsRange) {
  std::vector<float> weights(6, 1);
  const std::vector<float> gradients(6, 1);
  auto sgd = make_sgd<float>(weights, gradients, {.learning_rate = 1, .momentum = 0.9});
  sgd->step(2, 3);
  EXPECT_EQ(weights, (std::vector<float>{1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(sgd->size(), 6u);
  EXPECT_THROW(sgd->step(4, 3), InternalError);
}

TEST(Sgd, TakesAnotherLearningRate) {
  std::vector<float> weights{0};
  const std::vector<float> gradients{1};
  auto sgd = make_sgd<float>(weights, gradients, {.learning_rate = 1, .momentum = 0.5});
  sgd->step(0, 1);
  sgd->set_learning_rate(0.25);
  sgd->step(0, 1);  // with a velocity of 1.5
  EXPECT_EQ(weights[0], -1.375f);
  EXPECT_THROW(sgd->set_learning_rate(-1), UsageError);
}

TEST(Sgd, RefusesInvalidOptions) {
  std::vector<float> weights(1);
  for (const SgdOptions& bad :
       {SgdOptions{.nesterov = true}, SgdOptions{.learning_rate = -1}, SgdOptions{.momentum = 1},
        SgdOptions{.momentum = -0.1}, SgdOptions{.weight_decay = -1},
        SgdOptions{.learning_rate = std::nan("")}})
    EXPECT_THROW(make_sgd<float>(weights, weights, bad), UsageError);
}

TEST(Sgd, NesterovLooksAheadByTheMomentum) {
  // With a constant gradient of 1, velocity k is 2 − 2^(1−k), and step k moves by 1 + half of it.
  std::vector<double> weights{0};
  const std::vector<double> gradients{1};
  auto sgd =
      make_sgd<double>(weights, gradients, {.learning_rate = 1, .momentum = 0.5, .nesterov = true});
  double expected = 0;
  for (int step = 1; step <= 8; ++step) {
    sgd->step(0, 1);
    expected -= 2 - std::pow(0.5, step);
    ASSERT_NEAR(weights[0], expected, 1e-12);
  }
}

/// Random weights, gradients and velocity.
template <typename T>
struct Arrays {
  explicit Arrays(std::size_t count) : weights(count), gradients(count), velocity(count) {
    Random random(11);
    for (auto* array : {&weights, &gradients, &velocity})
      for (T& value : *array) value = static_cast<T>(2 * random.uniform() - 1);
  }
  bool operator==(const Arrays&) const = default;

  std::vector<T> weights, gradients, velocity;
};

/// Applies a unit's kernel to arrays, from element `begin` on.
template <typename T>
Arrays<T> stepped(const SgdKernels& kernels, SgdStep<T> step, std::size_t begin, bool momentum) {
  Arrays<T> arrays(begin + step.count + 3);
  step.weights = arrays.weights.data() + begin;
  step.gradients = arrays.gradients.data() + begin;
  if (momentum) step.velocity = arrays.velocity.data() + begin;
  if constexpr (std::is_same_v<T, float>)
    kernels.float32(step);
  else
    kernels.float64(step);
  return arrays;
}

template <typename T>
class SgdOfType : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SgdOfType, Types);

TYPED_TEST(SgdOfType, AllVectorUnitsGiveTheSameBits) {
  using T = TypeParam;
  for (std::size_t count : {0u, 1u, 7u, 8u, 16u, 33u, 1003u})
    for (std::size_t begin : {0u, 1u, 3u})
      for (int way : {0, 1, 2}) {  // plain, momentum, Nesterov momentum
        const SgdStep<T> step{.count = count,
                              .rate = T(0.013),
                              .momentum = T(0.9),
                              .decay = T(5e-4),
                              .nesterov = way == 2};
        const Arrays<T> expected = stepped(plain_sgd_kernels(), step, begin, way > 0);
        EXPECT_EQ(expected == Arrays<T>(begin + count + 3), count == 0);
        for (VectorUnit unit : vector_units())
          ASSERT_TRUE(stepped(sgd_kernels_for(unit), step, begin, way > 0) == expected)
              << name_of(unit) << ", " << count << " from " << begin << ", way " << way;
      }
}

TYPED_TEST(SgdOfType, ThreadsDoNotChangeABit) {
  using T = TypeParam;
  constexpr std::size_t kCount = 1'000'003;
  constexpr std::size_t kPart = 10'000;  // few enough for one thread
  auto train = [&](std::size_t part) {
    Arrays<T> arrays(kCount);
    auto sgd = make_sgd<T>(
        arrays.weights, arrays.gradients,
        {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 1e-4, .nesterov = true});
    for (int step = 0; step < 3; ++step)
      for (std::size_t begin = 0; begin < kCount; begin += part)
        sgd->step(begin, std::min(part, kCount - begin));
    return arrays.weights;
  };
  EXPECT_EQ(train(kCount), train(kPart));
}

}  // namespace
}  // namespace lockstep::internal::optim
