#include "comm/reduce.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace lockstep::comm {
namespace {

TEST(Reduce, IntegersWrapAround) {
  std::vector<std::int32_t> into{std::numeric_limits<std::int32_t>::max()};
  const std::vector<std::int32_t> one{1};
  reduce_into(into, one.data(), ReduceOp::sum);
  EXPECT_EQ(into[0], std::numeric_limits<std::int32_t>::min());
}

TEST(Reduce, AverageIsTheSumTimesTheReciprocal) {
  std::vector<double> values{1, 2, 4};
  finish_average(values, ReduceOp::average, 4);
  EXPECT_EQ(values, (std::vector<double>{0.25, 0.5, 1}));
  finish_average(values, ReduceOp::sum, 4);
  EXPECT_EQ(values, (std::vector<double>{0.25, 0.5, 1}));
}

TEST(Reduce, TreeWritesTheResultOverAllArrays) {
  for (std::size_t arrays : {1u, 2u, 3u, 5u, 6u, 7u, 16u, 17u})
    for (std::size_t count : {1u, 1023u, 1024u, 1025u, 5000u}) {
      std::vector<std::vector<float>> values;
      std::vector<void*> pointers;
      for (std::size_t a = 0; a < arrays; ++a)
        values.emplace_back(count, static_cast<float>(a + 1));
      for (auto& array : values) pointers.push_back(array.data());
      reduce_tree(pointers, pointers, count, DataType::float32, ReduceOp::sum);
      const auto sum = static_cast<float>(arrays * (arrays + 1) / 2);
      for (auto& array : values) ASSERT_EQ(array, std::vector<float>(count, sum));
    }
}

}  // namespace
}  // namespace lockstep::comm
