#include "observe/statistics.h"

#include <gtest/gtest.h>

namespace lockstep::internal::observe {
namespace {

TEST(Statistics, PercentilesInterpolate) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3}, 0.9), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(mean({1, 2, 6}), 3);
  EXPECT_EQ(mean({}), 0);
}

}  // namespace
}  // namespace lockstep::internal::observe
