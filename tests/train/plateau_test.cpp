// Plateaus: the learning rate is lowered when the test loss stopped improving.
#include "train/policy/plateau.h"

#include <lockstep/error.h>

#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::internal::train {
namespace {

RunPolicy plateau(int epochs, double factor) {
  RunPolicy control;
  control.plateau = epochs;
  control.plateau_factor = factor;
  return control;
}

TEST(Plateau, LowersTheRateWhenPyTorchDoes) {
  // PyTorch's ReduceLROnPlateau(factor=0.5, patience=1, threshold=0): it waits one epoch more than
  // its patience; our option is the number of epochs that it waits.
  const std::vector<double> losses{2, 1, 1, 1.5, 0.5, 0.7, 0.6, 0.6, 0.6, 0.4, 0.4};
  const std::vector<double> rates{1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.125};
  Plateau ours(plateau(2, 0.5));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const bool lower = rates[i] < (i == 0 ? 1 : rates[i - 1]);
    EXPECT_EQ(ours.after_epoch(losses[i]), lower) << "epoch " << i + 1;
    EXPECT_EQ(ours.factor(), rates[i]) << "epoch " << i + 1;
  }
}

TEST(Plateau, NanIsNoImprovement) {
  Plateau ours(plateau(1, 0.5));
  EXPECT_TRUE(ours.after_epoch(std::nan("")));
  EXPECT_FALSE(ours.after_epoch(3));
  EXPECT_TRUE(ours.after_epoch(std::nan("")));
}

TEST(Plateau, StateSurvivesACheckpoint) {
  const RunPolicy control = plateau(2, 0.3);
  Plateau before(control);
  for (const double loss : {1.0 / 3, 1.0, 1.0, 1.0}) before.after_epoch(loss);
  Plateau after(control);
  after.restore(before.state());
  EXPECT_EQ(after.factor(), 0.3);
  EXPECT_TRUE(after.after_epoch(1.0 / 3));
  Plateau stranger(control);
  CheckpointMetadata metadata = before.state();
  metadata["plateau_share"] = "7";
  stranger.restore(metadata);
  EXPECT_EQ(stranger.state(), Plateau(control).state());
  EXPECT_TRUE(Plateau({}).state().empty());
  EXPECT_FALSE(Plateau({}).after_epoch(1));
}

TEST(Plateau, InvalidOptionsAreRefused) {
  TrainConfig config = small_job();
  config.epochs = 5;
  const auto refused = [&](const RunPolicy& policy, const std::string& part) {
    config.policy = policy;
    testing::expect_error<UsageError>([&] { config.validate(); }, {part});
  };
  refused(plateau(0, 0.1), "--plateau is 0: it must be 1 or more epochs");
  for (const double factor : {0.0, 1.0, -0.5, std::nan("")})
    refused(plateau(1, factor), "it must be above 0 and below 1");
  RunPolicy alone;
  alone.plateau_factor = 0.5;
  refused(alone, "--plateau-factor needs --plateau");
  config.policy = plateau(5, 0.5);
  config.validate();
}

TEST(Plateau, AllWorkersLowerTheRateInTheSameStep) {
  testing::TemporaryFolder folder;
  TrainConfig config = small_job();
  config.workers = 2;
  config.learning_rate = 1e30;  // no loss is a number: every epoch lowers it
  config.epochs = 4;
  config.policy = plateau(1, 0.5);
  config.policy.check_every = 1;
  config.run_dir = folder.path() / "run";
  train_on_threads(config);
  const auto iterations = metrics_of(config.run_dir, "iteration");
  EXPECT_EQ(iterations.size(), 2u * 4 * 7);
  for (const auto& line : iterations) {
    const int epoch = line.at("epoch").get<int>();
    EXPECT_EQ(line.at("lr"), 1e30 * std::pow(0.5, epoch - 1)) << line;
  }
}

}  // namespace
}  // namespace lockstep::internal::train
