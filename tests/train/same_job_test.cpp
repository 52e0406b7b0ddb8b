// Ranks with different jobs get an error before the first step.
#include "train/config/same_job.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "support/ranks.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

namespace lockstep::internal::train {
namespace {

using testing::errors_of_ranks;
using testing::RankKind;

using Change = std::function<void(TrainConfig&)>;

/// The errors of the ranks of a run in which rank 1 has a changed configuration.
std::vector<std::string> errors_with(const Change& change, const Change& common = {}) {
  TrainConfig config = small_job();
  config.workers = 2;
  config.iterations = 1;
  if (common) common(config);
  return errors_of_ranks(RankKind::thread, 2, [&](const Group& group) {
    TrainConfig mine = config;
    if (group.rank() == 1) change(mine);
    train_silently(group, mine);
  });
}

void expect_named(const Change& change, const std::string& rank_zero, const std::string& rank_one) {
  for (const std::string& error : errors_with(change))
    EXPECT_EQ(error, "the ranks have different options; the first difference: rank 0 had " +
                         rank_zero + "; rank 1 had " + rank_one +
                         ". Start all of them with the same options");
}

TEST(SameJob, EveryOptionThatMattersIsCompared) {
  expect_named([](TrainConfig& c) { c.seed = 7; }, "seed 5000", "seed 7");
  expect_named([](TrainConfig& c) { c.batch = 8; }, "batch 16", "batch 8");
  expect_named([](TrainConfig& c) { c.limit = 50; }, "limit 100", "limit 50");
  expect_named([](TrainConfig& c) { c.learning_rate = 2; }, "lr 0.01", "lr 2.0");
  expect_named([](TrainConfig& c) { c.shuffle = false; }, "shuffle true", "shuffle false");
  expect_named([](TrainConfig& c) { c.recipe.clip = 1; }, "clip 0.0", "clip 1.0");
  expect_named([](TrainConfig& c) { c.policy.check_every = 1; }, "check_every null",
               "check_every 1");
  expect_named([](TrainConfig& c) { c.init = "weights"; }, "init not given", "init given");
  expect_named([](TrainConfig& c) { c.save = "weights"; }, "save not given", "save given");
  expect_named([](TrainConfig& c) { c.json = "result"; }, "json not given", "json given");
  expect_named([](TrainConfig& c) { c.tensorboard = true; }, "tensorboard false",
               "tensorboard true");
  expect_named([](TrainConfig& c) { c.compress = "float16"; }, "compress \"\"", "compress float16");
  expect_named([](TrainConfig& c) { c.restarted = true; }, "restarted false", "restarted true");
}

TEST(SameJob, TheGivenOptionIsNamedAndNotAResolvedOne) {
  expect_named([](TrainConfig& c) { c.shards = 2; }, "shards 0", "shards 2");
  expect_named([](TrainConfig& c) { c.recipe.lr_scale = "linear"; }, "lr_scale none",
               "lr_scale linear");
  expect_named([](TrainConfig& c) { c.sync = "ring"; }, "sync ddp", "sync ring");
  expect_named(
      [](TrainConfig& c) {
        c.iterations = 2;
        c.epochs = 0;  // as the command line does
      },
      "iterations 1", "iterations 2");
}

TEST(SameJob, ThreadsAreComparedOnlyWhereResultsDependOnThem) {
  const Change more = [](TrainConfig& c) { c.threads = 2; };
  const Change sharded = [](TrainConfig& c) { c.shards = 2; };
  for (const std::string& error : errors_with(more)) EXPECT_EQ(error, "");
  for (const std::string& error : errors_with(more, sharded))
    EXPECT_NE(error.find("rank 0 had threads 1; rank 1 had threads 2"), std::string::npos) << error;
}

TEST(SameJob, HostsMayKeepTheirDataInDifferentFolders) {
  const testing::TemporaryFolder folder;
  std::filesystem::copy(small_job().data_dir / "mnist", folder.path() / "mnist");
  const Change elsewhere = [&](TrainConfig& c) {
    c.data_dir = folder.path();
    c.loader_threads = 2;
  };
  for (const std::string& error : errors_with(elsewhere)) EXPECT_EQ(error, "");
}

TEST(SameJob, SyntheticImagesOfAnotherSeedDiffer) {
  const Change synthetic = [](TrainConfig& c) { c.data = "synthetic:1x32x32,train=100,test=20"; };
  for (const std::string& error : errors_with([](TrainConfig&) {}, synthetic)) EXPECT_EQ(error, "");
  TrainConfig config = small_job();
  synthetic(config);
  const std::vector<std::string> lines = describe(open_dataset(config));
  config.data += ",seed=1";
  EXPECT_NE(describe(open_dataset(config)), lines);
  EXPECT_EQ(lines.front(), "100 training images of 1×32×32 in 10 classes");
}

}  // namespace
}  // namespace lockstep::internal::train
