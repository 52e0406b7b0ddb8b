// Thinning of curves.
#include "report/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::internal::report {
namespace {

Curve counting(std::size_t points) {
  Curve curve;
  for (std::size_t i = 1; i <= points; ++i)
    curve.add(static_cast<double>(i), static_cast<double>(2 * i), 1);
  return curve;
}

TEST(Curve, OfFewPointsIsNotThinned) {
  for (std::size_t points : {0, 1, 499, 500}) {
    const Curve curve = counting(points);
    EXPECT_EQ(thinned(curve, 500).at, curve.at);
    EXPECT_EQ(thinned(curve, 500).first, curve.first);
  }
}

TEST(Curve, ThinnedHasTheMeansOfNeighbours) {
  const Curve thin = thinned(counting(7), 3);
  EXPECT_EQ(thin.at, (std::vector<double>{2, 5, 7}));
  EXPECT_EQ(thin.first, (std::vector<double>{4, 10, 14}));
  EXPECT_EQ(thin.second, (std::vector<double>{1, 1, 1}));
}

TEST(Curve, ThinnedHasAtMostTheAllowedPoints) {
  for (std::size_t points : {501, 999, 1000, 1001, 100'000})
    for (std::size_t most : {1, 2, 10, 499, 500}) {
      const Curve thin = thinned(counting(points), most);
      EXPECT_LE(thin.size(), most);
      EXPECT_GE(thin.size(), 1u);
      EXPECT_TRUE(std::is_sorted(thin.at.begin(), thin.at.end()));
    }
}

TEST(Curve, ThinningKeepsTheSum) {
  Curve curve = counting(1000);
  curve.second[617] = 500;  // one slow iteration
  double sum = 0;
  for (double value : thinned(curve, 100).second) sum += 10 * value;
  EXPECT_DOUBLE_EQ(sum, 1499);
}

TEST(Curve, KeepsNaN) {
  Curve curve = counting(4);
  curve.first[3] = std::numeric_limits<double>::quiet_NaN();
  const Curve thin = thinned(curve, 2);
  EXPECT_EQ(to_json(thin.first).dump(), "[3,null]");
}

TEST(Curve, IsSorted) {
  Curve curve;
  curve.add(3, 30, 300);
  curve.add(1, 10, 100);
  curve.add(2, 20, 200);
  curve.sort();
  EXPECT_EQ(curve.at, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(curve.first, (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(curve.second, (std::vector<double>{100, 200, 300}));
}

TEST(Curve, AsJsonHasFiveDigits) {
  EXPECT_EQ(to_json({1, 100000, 2.3397037982940674, 0.0016701234, -0.5}).dump(),
            "[1,100000,2.3397,0.0016701,-0.5]");
}

}  // namespace
}  // namespace lockstep::internal::report
