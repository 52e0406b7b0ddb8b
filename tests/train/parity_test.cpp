// Training gives PyTorch's numbers. The reference is made by tests/reference/lenet5.py.
#include "base/files.h"
#include "models/formula_weights.h"
#include "models/model.h"
#include "models/safetensors.h"
#include "support/temporary_folder.h"
#include "sync/sync_method.h"
#include "train/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep::internal::train {
namespace {

constexpr std::size_t kParitySteps = 20;

const nlohmann::json& reference() {
  static const nlohmann::json json =
      nlohmann::json::parse(read_file(LOCKSTEP_TEST_SOURCE "/tests/reference/lenet5.json"));
  return json;
}

/// Five epochs of four batches.
TrainConfig recipe(const std::filesystem::path& folder) {
  TrainConfig config = small_job();
  config.limit = 64;
  config.batch = 16;
  config.epochs = 5;
  config.shuffle = false;
  config.learning_rate = 0.01;
  config.momentum = 0.9;
  config.weight_decay = 5e-4;
  config.init = folder / "initial.safetensors";
  config.save = folder / "final.safetensors";
  config.run_dir = folder / "run";
  const auto model = models::make_model("lenet5");
  models::set_formula_weights(*model);
  models::write_safetensors(config.init, models::state_of(*model));
  return config;
}

/// The mean over the ranks, whose slices have equal sizes, of every iteration.
std::vector<double> losses_of(const TrainConfig& config) {
  std::vector<double> losses(kParitySteps);
  const auto lines = metrics_of(config.run_dir, "iteration");
  EXPECT_EQ(lines.size(), kParitySteps * static_cast<std::size_t>(config.workers));
  for (const nlohmann::json& line : lines)
    losses.at(line.at("iteration").get<std::size_t>() - 1) +=
        line.at("loss").get<double>() / config.workers;
  return losses;
}

void expect_losses(const TrainConfig& config, const std::string& name, double tolerance) {
  const std::vector<double> losses = losses_of(config);
  const auto expected = reference().at(name).get<std::vector<double>>();
  ASSERT_EQ(expected.size(), kParitySteps);
  for (std::size_t step = 0; step < kParitySteps; ++step)
    EXPECT_NEAR(losses[step], expected[step], tolerance * expected[step]) << "step " << step + 1;
}

void expect_weights_sum(const TrainConfig& config, const std::string& name) {
  const std::vector<double> weights = weights_in(config.save);
  const double expected = reference().at(name);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), expected,
              1e-9 * std::abs(expected));
}

class Parity : public ::testing::TestWithParam<std::tuple<int, std::string>> {
 protected:
  Parity() : config_(recipe(folder_.path())) {
    config_.workers = std::get<0>(GetParam());
    config_.sync = std::get<1>(GetParam());
  }

  testing::TemporaryFolder folder_;
  TrainConfig config_;
};

INSTANTIATE_TEST_SUITE_P(All, Parity,
                         ::testing::Combine(::testing::Values(1, 4),
                                            ::testing::ValuesIn(sync::averaging_method_names())),
                         [](const auto& info) { return name_of_case(info.param); });

TEST_P(Parity, LossesInFloat32AreThoseOfPyTorch) {
  train_on_threads(config_);
  expect_losses(config_, "losses_float32", 1e-5);
}

TEST_P(Parity, LossesAndFinalWeightsInFloat64AreThoseOfPyTorch) {
  config_.dtype = "float64";
  train_on_threads(config_);
  expect_losses(config_, "losses_float64", 1e-9);
  expect_weights_sum(config_, "weights_sum_float64");
}

TEST_P(Parity, NesterovsStepIsThatOfPyTorch) {
  config_.dtype = "float64";
  config_.nesterov = true;
  train_on_threads(config_);
  expect_losses(config_, "nesterov_losses_float64", 1e-9);
  expect_weights_sum(config_, "nesterov_weights_sum_float64");
}

}  // namespace
}  // namespace lockstep::internal::train
