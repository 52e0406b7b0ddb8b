#include "comm/reduce.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

namespace lockstep::internal::comm {
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

/// Arrays [first, first + width) along the tree, one step at a time.
template <typename T>
std::vector<T> tree_of(const std::vector<std::vector<T>>& arrays, std::size_t first,
                       std::size_t width, ReduceOp op) {
  if (width == 1) return arrays[first];
  std::vector<T> left = tree_of(arrays, first, width / 2, op);
  if (first + width / 2 >= arrays.size()) return left;
  const std::vector<T> right = tree_of(arrays, first + width / 2, width / 2, op);
  reduce_into(left, right.data(), op);
  return left;
}

template <typename T>
void expect_tree(std::size_t count, std::size_t size, ReduceOp op, bool to_all) {
  Random random(size);
  std::vector<std::vector<T>> arrays(size, std::vector<T>(count));
  for (auto& array : arrays)
    for (T& value : array) value = static_cast<T>(static_cast<float>(8 * random.uniform()));
  std::vector<T> expected = tree_of(arrays, 0, std::bit_ceil(size), op);
  finish_average(expected, op, static_cast<int>(size));
  std::vector<void*> pointers;
  for (auto& array : arrays) pointers.push_back(array.data());
  std::vector<T> apart(count);
  void* const output = apart.data();
  const std::span<void* const> outputs =
      to_all ? std::span<void* const>(pointers) : std::span<void* const>(&output, 1);
  reduce_tree(pointers, outputs, count, DataTypeOf<T>::value, op);
  auto same = [&](const std::vector<T>& result) {
    return count == 0 || std::memcmp(result.data(), expected.data(), count * sizeof(T)) == 0;
  };
  if (!to_all) arrays = {apart};
  for (const auto& result : arrays) {
    ASSERT_TRUE(same(result)) << size << " arrays of " << count;
  }
}

template <typename T>
class ReduceTree : public testing::Test {};
using AllTypes =
    testing::Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(ReduceTree, AllTypes);

TYPED_TEST(ReduceTree, GivesTheBitsOfSingleStepsForAnyNumberOfArrays) {
  for (ReduceOp op :
       {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product, ReduceOp::average}) {
    if (op == ReduceOp::average && !is_floating(DataTypeOf<TypeParam>::value)) continue;
    for (std::size_t size : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 11u, 13u, 16u, 19u})
      for (std::size_t count : {1u, 513u, 4097u})
        for (bool to_all : {false, true}) expect_tree<TypeParam>(count, size, op, to_all);
  }
}

}  // namespace
}  // namespace lockstep::internal::comm
