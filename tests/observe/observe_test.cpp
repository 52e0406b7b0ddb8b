#include "observe/statistics.h"
#include "observe/verdict.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::observe {
namespace {

using ::testing::HasSubstr;

TEST(Statistics, PercentilesInterpolate) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3}, 0.9), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(mean({1, 2, 6}), 3);
  EXPECT_EQ(mean({}), 0);
}

Situation with(Times mean) {
  mean.total = mean.data + mean.forward + mean.backward + mean.exposed + mean.optimizer;
  return {mean, 2, 1, 2};
}

TEST(Verdict, NamesWhatTakesMost) {
  EXPECT_THAT(verdict(with({.forward = 3, .backward = 6, .exposed = 1})),
              HasSubstr("Compute-bound: forward, backward and update take 90 %"));
  EXPECT_THAT(verdict(with({.data = 8, .forward = 1})), HasSubstr("Data loading takes 89 %"));
  EXPECT_THAT(verdict(with({.forward = 1, .exposed = 9, .wait = 1})),
              HasSubstr("Communication-bound: 80 %"));
  EXPECT_THAT(verdict(with({.forward = 1, .exposed = 9, .wait = 8})),
              HasSubstr("wait for the slowest of them 80 %"));
  EXPECT_THAT(verdict(with({})), HasSubstr("Too short"));
}

TEST(Verdict, SaysWhenCoresAreOversubscribed) {
  Situation situation = with({.forward = 1, .exposed = 9, .wait = 8});
  situation.workers = 4;
  EXPECT_THAT(verdict(situation), HasSubstr("4 workers × 1 thread share 2 cores"));
}

}  // namespace
}  // namespace lockstep::observe
