// Divergence of a training, from made-up losses.
#include "observe/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace lockstep::internal::observe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A run on ten classes, of which guessing has a loss of 2.30.
Learning run(std::vector<double> losses, double test_loss) {
  return {.losses = std::move(losses), .test_loss = test_loss, .classes = 10, .rate = 0.5};
}

TEST(Divergence, OfALossThatExplodes) {
  const auto found = find_divergence(run({2.31, 2.4, 9, 153, 800, 6e4, 9e7}, 6829));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->iteration, 4u);
  EXPECT_EQ(
      found->text,
      "Diverged: the training loss went from 2.31 in iteration 1 to 153 in iteration 4 "
      "(guessing gives 2.30). At the end it is more than a million, and the test loss 6829. What "
      "usually helps: a lower learning rate (--lr 0.05 instead of 0.5), a warm-up "
      "(--warmup 1) and clipped gradients (--clip 1).");
}

TEST(Divergence, OfALossThatIsNotFinite) {
  for (double loss : {kNan, std::numeric_limits<double>::infinity()}) {
    const auto found = find_divergence(run({2.31, 2.2, loss}, loss));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->iteration, 3u);
    EXPECT_THAT(found->text, HasSubstr("to NaN or infinity in iteration 3 (guessing"));
    EXPECT_EQ(find_divergence(run({loss}, loss)).value().iteration, 1u);
  }
}

TEST(Divergence, OfATestLossAlone) {
  const auto found = find_divergence(run({2.31, 2.2, 2.1, 2.0}, 6829));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->iteration, 0u);
  EXPECT_THAT(found->text, HasSubstr("Diverged: the test loss is 6829 (guessing gives 2.30)."));
  EXPECT_TRUE(find_divergence(run({2.31, 2.2, 2.1}, kNan)));
}

TEST(Divergence, OfARunThatExplodedAndNoLongerLearns) {
  const std::vector<double> dead{2.31, 40, 900, 300, 2.303, 2.302, 2.303, 2.302};
  EXPECT_EQ(find_divergence(run(dead, 2.303)).value().iteration, 2u);
  const std::vector<double> recovered{2.31, 40, 90, 30, 2.2, 1.9, 1.7, 1.6};
  EXPECT_FALSE(find_divergence(run(recovered, 1.6)));
}

TEST(Divergence, IsNotSeenInShortAndNoisyRuns) {
  EXPECT_FALSE(find_divergence(run({}, 2.3)));
  EXPECT_FALSE(find_divergence(run({4.1}, 3.9)));
  EXPECT_FALSE(find_divergence(run({2.3, 14}, 5)));  // one batch of one image
  EXPECT_FALSE(find_divergence(run({2.3, 6, 1.1, 8, 2.9}, 4)));
  EXPECT_FALSE(find_divergence(run({2.3, 1.2, 0.4, 0.01}, 7)));  // overfitted
  EXPECT_FALSE(find_divergence(run({2.3, 2.3, 13, 2.4, 2.5}, 2.6)));
  EXPECT_FALSE(find_divergence(run({2.3, 2.3, 2.3, 13}, 2.6)));
  EXPECT_FALSE(find_divergence(run({31, 29, 33, 30}, 32)));  // large initial weights
}

TEST(Divergence, OfAResumedRunCountsFromTheStartOfTheWholeRun) {
  Learning learning = run({900, 1000, 1100, 1200}, 1300);
  learning.done_before = 50;
  EXPECT_EQ(find_divergence(learning).value().iteration, 51u);
}

TEST(Divergence, AdvisesOnlyWhatTheRunDoesNotDo) {
  Learning learning = run({2.3, kNan}, kNan);
  learning.warms_up = learning.clips = true;
  EXPECT_THAT(find_divergence(learning).value().text,
              AllOf(HasSubstr("--lr 0.05"), Not(HasSubstr("--warmup")), Not(HasSubstr("--clip"))));
}

}  // namespace
}  // namespace lockstep::internal::observe
