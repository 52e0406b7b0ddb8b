// Measured quantities as text.
#include "base/table/quantities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::internal {
namespace {

TEST(Quantities, HaveThreeDigitsAndNoExponent) {
  EXPECT_EQ(three_digits(0), "0");
  EXPECT_EQ(three_digits(1e-7), "0.000000100");
  EXPECT_EQ(three_digits(0.012345), "0.0123");
  EXPECT_EQ(three_digits(0.99951), "1.00");
  EXPECT_EQ(three_digits(9.996), "10.0");
  EXPECT_EQ(three_digits(99.96), "100");
  EXPECT_EQ(three_digits(-1890), "-1890");
  EXPECT_EQ(three_digits(1.5e9), "1500000000");
  EXPECT_EQ(three_digits(std::nan("")), "–");
  EXPECT_EQ(three_digits(std::numeric_limits<double>::infinity()), "–");
}

TEST(Quantities, OfTimeHaveTheUnitThatFits) {
  EXPECT_EQ(in_seconds(0), "0 ms");
  EXPECT_EQ(in_seconds(3.2e-6), "3.20 µs");
  EXPECT_EQ(in_seconds(0.00021), "210 µs");
  EXPECT_EQ(in_seconds(0.9996e-3), "1.00 ms");
  EXPECT_EQ(in_seconds(0.0035), "3.50 ms");
  EXPECT_EQ(in_seconds(0.9996), "1.00 s");
  EXPECT_EQ(in_seconds(1.89), "1.89 s");
  EXPECT_EQ(in_seconds(119.6), "120 s");
  EXPECT_EQ(in_seconds(7200), "120 min");
}

TEST(Quantities, OfOtherKindsHaveUnits) {
  EXPECT_EQ(in_percent(0.404), "40 %");
  EXPECT_EQ(in_percent(0.001), "less than 1 %");
  EXPECT_EQ(in_percent(0), "0 %");
  EXPECT_EQ(in_bytes(1), "1 byte");
  EXPECT_EQ(in_bytes(999), "999 bytes");
  EXPECT_EQ(in_bytes(247000), "247 kB");
  EXPECT_EQ(in_bytes(999700), "1.00 MB");
  EXPECT_EQ(in_bytes(3.69e7), "36.9 MB");
  EXPECT_EQ(in_bytes(1.2e9), "1.20 GB");
  EXPECT_EQ(counted(1, "worker"), "1 worker");
  EXPECT_EQ(counted(2.2, "worker"), "2 workers");
  EXPECT_EQ(instead_of(0.021, 0.035), "21.0 ms instead of 35.0 ms");
  EXPECT_EQ(times_as_fast(1.667), "1.67 times as fast");
}

}  // namespace
}  // namespace lockstep::internal
