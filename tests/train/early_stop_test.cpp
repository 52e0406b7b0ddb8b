// Early stopping: when a run stops, and its results.
#include "train/policy/early_stop.h"

#include <lockstep/error.h>

#include "run/run_folder.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::internal::train {
namespace {

RunPolicy accuracy(double share) {
  RunPolicy control;
  control.stop_at_accuracy = share;
  return control;
}

RunPolicy patience(int epochs) {
  RunPolicy control;
  control.patience = epochs;
  return control;
}

TEST(EarlyStop, StopsAtTheFirstEpochWithTheAccuracy) {
  EarlyStop stop(accuracy(0.9));
  EXPECT_EQ(stop.after_epoch(1, 2.0, 0.899), "");
  EXPECT_EQ(stop.after_epoch(2, 3.0, 0.9),
            "after epoch 2 the test accuracy is 90.00 %, which reaches the target of 90 %");
}

TEST(EarlyStop, PatienceCountsEpochsInARowWithoutASmallerLoss) {
  EarlyStop stop(patience(2));
  EXPECT_EQ(stop.after_epoch(1, 2.0, 0.5), "");
  EXPECT_EQ(stop.after_epoch(2, 2.0, 0.9), "");  // no smaller
  EXPECT_EQ(stop.after_epoch(3, 1.5, 0.5), "");  // begins again
  EXPECT_EQ(stop.after_epoch(4, 1.6, 0.5), "");
  EXPECT_EQ(stop.after_epoch(5, std::nan(""), 0.5),
            "after epoch 5 the test loss is nan, and was not below 1.5000 in the last 2 "
            "epochs");
}

TEST(EarlyStop, StateSurvivesACheckpoint) {
  const RunPolicy control = patience(2);
  EarlyStop before(control);
  before.after_epoch(1, 1.0 / 3, 0);
  before.after_epoch(2, 1, 0);
  EarlyStop after(control);
  after.restore(before.state());
  EXPECT_NE(after.after_epoch(3, 1.0 / 3, 0), "");
  EarlyStop stranger(control);
  stranger.restore({{"best_test_loss", "low"}, {"epochs_since_best_test_loss", "1"}});
  EXPECT_EQ(stranger.state(), EarlyStop(control).state());
  EXPECT_TRUE(EarlyStop({}).state().empty());
}

TEST(EarlyStop, InvalidOptionsAreRefused) {
  TrainConfig config = small_job();
  config.epochs = 5;
  const auto refused = [&](const RunPolicy& policy, const std::string& part) {
    config.policy = policy;
    testing::expect_error<UsageError>([&] { config.validate(); }, {part});
  };
  refused(accuracy(98), "above 0 and up to 1; 0.98 is 98 %");
  refused(accuracy(0), "above 0 and up to 1");
  refused(accuracy(std::nan("")), "above 0 and up to 1");
  refused(patience(0), "--patience is 0: it must be 1 or more");
  refused(patience(5), "from 1 to below the 5 epochs");
  for (const RunPolicy& policy : {accuracy(1), patience(4)}) {
    config.policy = policy;
    config.validate();
  }
  config.policy = patience(5);
  config.epochs = 0;
  config.iterations = 9;
  config.validate();
}

/// LeNet-5 with a learning rate of 0: all tests have the same result.
class StoppedEarly : public ::testing::Test {
 protected:
  StoppedEarly() {
    config_ = small_job();
    config_.workers = 2;
    config_.learning_rate = 0;
    config_.epochs = 9;
    config_.run_dir = folder_.path() / "run";
    config_.policy.patience = 3;
  }

  testing::TemporaryFolder folder_;
  TrainConfig config_;
};

TEST_F(StoppedEarly, SummaryNamesTheReason) {
  const run::Summary summary = train_on_threads(config_);
  EXPECT_EQ(summary.epochs, 4u);
  EXPECT_EQ(summary.iterations, 4u * 7);
  EXPECT_NE(summary.stopped.find("after epoch 4 the test loss is"), std::string::npos);
  EXPECT_EQ(run::read_summary(config_.run_dir).stopped, summary.stopped);
  const auto tests = metrics_of(config_.run_dir, "test");
  ASSERT_EQ(tests.size(), 4u);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    EXPECT_EQ(tests[i].at("epoch"), i + 1);
    EXPECT_EQ(tests[i].at("iteration"), 7 * (i + 1));
    EXPECT_EQ(tests[i].at("loss"), summary.test_loss);
  }
}

TEST_F(StoppedEarly, AResumedRunCountsEarlierEpochs) {
  config_.checkpoint_every = 7;  // after an epoch's test
  config_.iterations = 14;
  EXPECT_EQ(train_on_threads(config_).stopped, "");
  config_.iterations = 0;
  config_.resume = true;
  const run::Summary resumed = train_on_threads(config_);
  EXPECT_EQ(resumed.epochs, 4u);
  EXPECT_NE(resumed.stopped, "");
  EXPECT_EQ(metrics_of(config_.run_dir, "test").size(), 4u);
}

TEST_F(StoppedEarly, TestsBetweenEpochsChangeNoWeights) {
  config_.learning_rate = 0.01;
  config_.epochs = 2;
  config_.policy = accuracy(1);
  const run::Summary tested = train_on_threads(config_);
  config_.policy = {};
  const run::Summary plain = train_on_threads(config_);
  EXPECT_EQ(tested.weights_sha256, plain.weights_sha256);
  EXPECT_EQ(tested.test_loss, plain.test_loss);
  EXPECT_EQ(tested.stopped, "");
}

}  // namespace
}  // namespace lockstep::internal::train
