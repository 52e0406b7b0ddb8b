// --test-per-rank: every rank's own test of all images, with every sync method and after a resume.
#include "sync/sync_method.h"
#include "train/checkpointed_runs.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::internal::train {
namespace {

class TestPerRank : public CheckpointTest {
 protected:
  TestPerRank() {
    config_.data = "synthetic:1x32x32,train=64,test=50";
    config_.checkpoint_every = 0;
    config_.test_per_rank = true;
  }

  std::set<double> losses_of(const run::Summary& summary) {
    std::set<double> losses;
    for (const run::RankSummary& rank : summary.ranks) {
      EXPECT_TRUE(rank.test.has_value());
      if (!rank.test) continue;
      EXPECT_EQ(rank.test->test_images, 50u);
      losses.insert(rank.test->test_loss);
    }
    return losses;
  }
};

TEST_F(TestPerRank, IsLeftOutUnlessAskedFor) {
  config_.test_per_rank = false;
  for (const run::RankSummary& rank : train("run", 1).ranks) EXPECT_FALSE(rank.test);
}

TEST_F(TestPerRank, RanksWithEqualWeightsHaveEqualResults) {
  for (const std::string& sync : sync::method_names()) {
    if (sync == "local-sgd") continue;
    config_.sync = sync;
    const run::Summary summary = train(sync, 3);
    EXPECT_EQ(losses_of(summary).size(), 1u) << sync;
    EXPECT_NEAR(summary.ranks[1].test->test_loss, summary.test_loss, 1e-6) << sync;
    EXPECT_EQ(summary.ranks[1].test->test_correct, summary.test_correct) << sync;
  }
}

TEST_F(TestPerRank, RanksThatDriftedApartAreTestedBeforeTheirAverage) {
  config_.sync = "local-sgd";
  config_.local_steps = 4;
  EXPECT_EQ(losses_of(train("drifted", 3)).size(), 2u);
  EXPECT_EQ(losses_of(train("averaged", 4)).size(), 1u);
  config_.checkpoint_every = 3;  // saves the average
  const run::Summary saved = train("saved", 3);
  EXPECT_EQ(losses_of(saved).size(), 2u);
  EXPECT_EQ(losses_of(train("saved", 7, true)).size(), 2u) << "3 steps after the average";
}

TEST_F(TestPerRank, BatchNormStatisticsAreTheRanksOwn) {
  config_.model = "resnet18";
  config_.data = "synthetic:3x32x32,train=8,test=50";
  config_.limit = 0;
  config_.batch = 8;
  const run::Summary summary = train("run", 1);
  EXPECT_EQ(losses_of(summary).size(), 2u);
  EXPECT_EQ(summary.ranks[0].weights_sha256, summary.ranks[1].weights_sha256);
}

}  // namespace
}  // namespace lockstep::internal::train
