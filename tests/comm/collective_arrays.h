// Arrays whose collectives have closed forms, and the fixture of tests that run on every transport.
#pragma once

#include <lockstep/group.h>

#include "comm/shared/direct.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace lockstep::internal {

inline constexpr std::size_t kStagedFloats = comm::SharedDirect::kPieceBytes / sizeof(float);
inline constexpr std::size_t kChannelFloats = comm::Channel::kCapacity / sizeof(float);

/// The algorithms that the group's transport has.
template <typename Algorithms>
std::vector<Algorithm> those_of(const Group& group, const Algorithms& algorithms) {
  std::vector<Algorithm> those;
  for (Algorithm algorithm : algorithms)
    if (group.has(algorithm)) those.push_back(algorithm);
  return those;
}

/// Element i of rank r's array. Small integers, so that sums are exact in any order.
template <typename T>
T element(int rank, std::size_t i) {
  return static_cast<T>(static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3) % 11));
}

template <typename T>
std::vector<T> array_of(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element<T>(rank, i);
  return values;
}

/// The all-reduced array, computed here in double.
template <typename T>
std::vector<T> expected(int size, std::size_t count, ReduceOp op) {
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto value = static_cast<double>(static_cast<float>(element<T>(0, i)));
    for (int rank = 1; rank < size; ++rank) {
      const auto other = static_cast<double>(static_cast<float>(element<T>(rank, i)));
      if (op == ReduceOp::min) value = std::min(value, other);
      if (op == ReduceOp::max) value = std::max(value, other);
      if (op == ReduceOp::product) value *= other;
      if (op == ReduceOp::sum || op == ReduceOp::average) value += other;
    }
    if constexpr (std::is_integral_v<T>) {
      result[i] = static_cast<T>(static_cast<std::uint64_t>(value));  // wraps around
    } else if constexpr (std::is_same_v<T, double>) {
      result[i] = op == ReduceOp::average ? value * (1.0 / size) : value;
    } else {
      const auto single = static_cast<float>(value);
      result[i] = static_cast<T>(
          op == ReduceOp::average ? single * (1.0f / static_cast<float>(size)) : single);
    }
  }
  return result;
}

/// On each kind of ranks × each world size.
class CollectivesTest : public ::testing::TestWithParam<std::tuple<testing::RankKind, int>> {
 protected:
  testing::RankKind kind() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};

inline auto all_worlds() {
  return ::testing::Combine(::testing::ValuesIn(testing::kinds()),
                            ::testing::ValuesIn(testing::world_sizes()));
}
inline std::string name_of_world(
    const ::testing::TestParamInfo<std::tuple<testing::RankKind, int>>& info) {
  return testing::name_of(std::get<0>(info.param)) + std::to_string(std::get<1>(info.param));
}

}  // namespace lockstep::internal
