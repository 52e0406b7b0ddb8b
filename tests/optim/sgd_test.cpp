#include "optim/sgd.h"

#include <lockstep/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lockstep::optim {
namespace {

TEST(Sgd, FollowsItsClosedForm) {
  // With a constant gradient g, plain SGD walks in a straight line.
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

TEST(Sgd, RefusesOptionsThatMakeNoSense) {
  std::vector<float> weights(1);
  for (const SgdOptions& bad :
       {SgdOptions{.learning_rate = -1}, SgdOptions{.momentum = 1}, SgdOptions{.momentum = -0.1},
        SgdOptions{.weight_decay = -1}, SgdOptions{.learning_rate = std::nan("")}})
    EXPECT_THROW(make_sgd<float>(weights, weights, bad), UsageError);
}

}  // namespace
}  // namespace lockstep::optim
