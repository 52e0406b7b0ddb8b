// Each deliberate mistake has its documented effect and no other.
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/config/mistake.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::internal::train {
namespace {

class MistakeTest : public ::testing::Test {
 protected:
  MistakeTest() : job(small_job()) {
    job.workers = 2;
    job.limit = 96;  // whole batches only
    job.epochs = 1;
    job.weight_decay = 0;
  }

  /// The final weights of a run, from the file of this name.
  std::vector<double> train(const TrainConfig& config, const std::string& name = "w") {
    TrainConfig named = config;
    named.save = folder_.path() / name;
    summary = train_on_threads(named);
    return weights_in(named.save);
  }
  std::vector<double> train_with(const std::string& mistake) {
    TrainConfig config = job;
    config.mistake = mistake;
    return train(config);
  }
  std::size_t different_weights() const {
    std::set<std::string> hashes;
    for (const run::RankSummary& rank : summary.ranks) hashes.insert(rank.weights_sha256);
    return hashes.size();
  }

  TrainConfig job;
  run::Summary summary;

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(MistakeTest, SumEqualsAnAverageWithALargerRate) {
  job.momentum = 0;
  const std::vector<double> summed = train_with("sum");
  job.learning_rate *= job.workers;
  EXPECT_LT(distance(summed, train(job)), 1e-6);
}

TEST_F(MistakeTest, SameShardEqualsTrainingOnTheFirstWorkersImages) {
  job.shuffle = false;
  job.iterations = 1;
  const std::vector<double> same = train_with("same-shard");
  EXPECT_EQ(different_weights(), 1u);
  job.workers = 1;
  job.limit = job.batch = 8;  // the first worker's images of the first 16
  EXPECT_LT(distance(same, train(job)), 1e-6);
}

TEST_F(MistakeTest, SameOrderDiffersFromTheSecondEpochOn) {
  EXPECT_EQ(train_with("same-order"), train(job));
  job.epochs = 2;
  EXPECT_GT(distance(train_with("same-order"), train(job)), 1e-4);
}

TEST_F(MistakeTest, SyncAfterUpdateLetsWorkersTrainIndependently) {
  job.shuffle = false;
  job.iterations = 1;
  const std::vector<double> apart = train_with("sync-after-update");
  EXPECT_EQ(different_weights(), 2u);
  // Rank 0's only step equals that of a single worker with these 8 images.
  job.workers = 1;
  job.limit = 8;
  job.batch = 8;
  EXPECT_LT(distance(apart, train(job)), 1e-6);
}

TEST_F(MistakeTest, SyncAfterUpdateWorksWithEveryMethod) {
  for (const std::string& method : sync::averaging_method_names()) {
    job.sync = method;
    job.first_bucket_mb = job.bucket_mb = 0.01;  // so that ddp has buckets to start early
    train_with("sync-after-update");
    EXPECT_EQ(different_weights(), 2u) << method;
  }
}

TEST_F(MistakeTest, DifferentWeightsStayDifferent) {
  train_with("different-weights");
  EXPECT_EQ(different_weights(), 2u);
  train(job);
  EXPECT_EQ(different_weights(), 1u);
}

TEST_F(MistakeTest, UnknownNamesAreRefused) {
  EXPECT_EQ(parse_mistake(""), Mistake::none);
  for (const std::string& name : mistake_names()) EXPECT_EQ(name_of(parse_mistake(name)), name);
  testing::expect_error<UsageError>([] { parse_mistake("typo"); },
                                    {"--mistake is 'typo'", "same-shard"});
  job.mistake = "different-weights";
  job.checkpoint_every = 1;
  job.run_dir = "somewhere";
  testing::expect_error<UsageError>([&] { job.validate(); }, {"different weights"});
}

}  // namespace
}  // namespace lockstep::internal::train
