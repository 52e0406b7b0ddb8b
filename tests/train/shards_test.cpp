// With shards a run ends with the same bits on any number of workers, by any method that adds along
// the tree.
#include <lockstep/error.h>

#include "engine/make_engine.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::internal::train {
namespace {

/// 10 images per step on 4 shards, so that slices differ in size. The last batch of an epoch has 3
/// images, so that one shard has none.
TrainConfig sharded_job(const std::string& engine) {
  TrainConfig config = small_job();
  config.engine = engine;
  config.limit = 23;
  config.batch = 10;
  config.epochs = 2;
  config.shards = 4;
  return config;
}

/// The results that must not depend on the workers.
std::string outcome(const run::Summary& summary) {
  return fmt::format("{} {} {} {} {}", summary.weights_sha256, summary.buffers_sha256,
                     summary.train_loss, summary.test_loss, summary.test_accuracy);
}

/// The training loss of a resumed epoch may differ in its last digit.
std::string outcome_but_for_training(const run::Summary& summary) {
  return fmt::format("{} {} {} {}", summary.weights_sha256, summary.buffers_sha256,
                     summary.test_loss, summary.test_accuracy);
}

std::vector<std::string> engines() {
  std::vector<std::string> names = engine::engine_names();
  std::erase(names, "auto");
  return names;
}

class ShardedTraining : public ::testing::TestWithParam<std::string> {
 protected:
  TrainConfig config_ = sharded_job(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Engines, ShardedTraining, ::testing::ValuesIn(engines()),
                         [](const auto& info) { return info.param; });

TEST_P(ShardedTraining, GivesTheSameBitsOnAnyNumberOfWorkers) {
  const std::string alone = outcome(train_on_threads(config_));
  for (int workers : {2, 4}) {
    config_.workers = workers;
    EXPECT_EQ(outcome(train_on_threads(config_)), alone) << workers;
  }
}

TEST_P(ShardedTraining, GivesTheSameBitsWithEveryMethodAndBucketSize) {
  config_.workers = 2;
  const std::string ddp = outcome(train_on_threads(config_));
  config_.bucket_mb = config_.first_bucket_mb = 0.01;
  EXPECT_EQ(outcome(train_on_threads(config_)), ddp);
  for (const char* sync :
       {"gather-scatter", "p2p", "coordinator", "all-reduce", "tree", "halving-doubling"}) {
    config_.sync = sync;
    EXPECT_EQ(outcome(train_on_threads(config_)), ddp) << sync;
  }
}

TEST_P(ShardedTraining, GivesTheSameBitsWithBatchNorm) {
  config_.model = "resnet18";
  config_.data = "cifar10";
  config_.limit = 16;
  config_.batch = 8;
  config_.epochs = 1;
  const run::Summary alone = train_on_threads(config_);
  config_.workers = 4;
  EXPECT_EQ(outcome(train_on_threads(config_)), outcome(alone));
  // With two shards, batch norm uses other images, so results differ.
  config_.shards = 2;
  config_.workers = 2;
  EXPECT_NE(train_on_threads(config_).weights_sha256, alone.weights_sha256);
}

TEST_P(ShardedTraining, ResumesOnAnotherNumberOfWorkers) {
  testing::TemporaryFolder folder;
  config_.epochs = 0;
  config_.iterations = 7;
  const run::Summary whole = train_on_threads(config_);
  config_.run_dir = folder.path() / "run";
  config_.checkpoint_every = 4;
  config_.iterations = 4;
  config_.workers = 4;
  train_on_threads(config_);
  config_.iterations = 7;
  config_.workers = 2;
  config_.resume = true;
  EXPECT_EQ(train_on_threads(config_).weights_sha256, whole.weights_sha256);
}

/// Each shard keeps its own batch norm statistics, on any worker and after a restart.
TEST_P(ShardedTraining, LongWithBatchNormResumesOnAnotherNumberOfWorkers) {
  testing::TemporaryFolder folder;
  config_.model = "vgg11";
  config_.data = "synthetic:train=16,test=4";
  config_.limit = 0;
  config_.batch = 6;  // the last batch of an epoch leaves shards without an image
  config_.epochs = 0;
  config_.iterations = 4;
  const run::Summary whole = train_on_threads(config_);
  config_.run_dir = folder.path() / "run";
  config_.checkpoint_every = 1;
  config_.iterations = 3;
  config_.workers = 4;
  train_on_threads(config_);
  config_.iterations = 4;
  config_.workers = 2;
  config_.resume = true;
  EXPECT_EQ(outcome_but_for_training(train_on_threads(config_)), outcome_but_for_training(whole));
}

TEST(Sharding, OneShardPerWorkerEqualsARunWithoutShards) {
  // The run without shards averages, the other one sums with weights of exactly a quarter.
  TrainConfig config = small_job();
  config.engine = "torch";
  config.workers = 4;
  config.threads = 1;
  const run::Summary ordinary = train_on_threads(config);
  config.shards = 4;
  const run::Summary sharded = train_on_threads(config);
  EXPECT_EQ(sharded.weights_sha256, ordinary.weights_sha256);
  EXPECT_EQ(sharded.shards, 4);
  EXPECT_EQ(ordinary.shards, 4);
}

TEST(Sharding, FixesThreadsAndConvolutions) {
  TrainConfig config = small_job();
  config.shards = 2;
  EXPECT_EQ(config.threads_per_worker(), 1);
  EXPECT_EQ(config.convolution_choice(), "fixed");
  config.threads = 2;
  config.convolutions = "direct";
  EXPECT_EQ(config.threads_per_worker(), 2);
  EXPECT_EQ(config.convolution_choice(), "direct");
}

TEST(Sharding, RefusesImpossibleCombinations) {
  auto expect_refusal = [](auto change, std::string_view words) {
    TrainConfig config = small_job();
    config.shards = 4;
    change(config);
    testing::expect_error<UsageError>([&] { config.validate(); }, {words});
  };
  expect_refusal([](TrainConfig& config) { config.shards = 6; }, "a power of two");
  expect_refusal([](TrainConfig& config) { config.workers = 3; },
                 "cannot be distributed over 3 workers");
  expect_refusal([](TrainConfig& config) { config.workers = 8; }, "at most 4");
  expect_refusal([](TrainConfig& config) { config.batch = 3; }, "less than the 4 shards");
  expect_refusal([](TrainConfig& config) { config.mistake = "sum"; }, "leave out --shards");
  expect_refusal(
      [](TrainConfig& config) {
        config.model = "vgg11";
        config.data = "cifar10";
        config.sync_bn = true;
        config.workers = 2;
      },
      "as many workers as shards");
}

}  // namespace
}  // namespace lockstep::internal::train
