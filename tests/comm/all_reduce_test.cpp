// All-reduce by every algorithm against its closed form, over transports × ranks × lengths around
// every edge.
#include <lockstep/group.h>

#include "comm/collective_arrays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace lockstep::internal {
namespace {

using testing::run_ranks;

/// Lengths around the limits for a group of `ranks`: none, one, a rank more or less than one
/// element each, a cache line, the capacity of a channel and of a staging area.
std::set<std::size_t> lengths_for(int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  std::set<std::size_t> lengths{0, 1, 15, 16, 17, 1000};
  for (std::size_t edge : {size, 16 * size, kChannelFloats, kStagedFloats, 2 * kStagedFloats})
    lengths.insert({edge - 1, edge, edge + 1});
  return lengths;
}

constexpr std::array kAllReduces{
    Algorithm::automatic,        Algorithm::star,   Algorithm::tree,         Algorithm::ring,
    Algorithm::halving_doubling, Algorithm::direct, Algorithm::hierarchical, Algorithm::native};

class AllReduce : public CollectivesTest {};
INSTANTIATE_TEST_SUITE_P(AllWorlds, AllReduce, all_worlds(), name_of_world);

TEST_P(AllReduce, SumsByEveryAlgorithm) {
  run_ranks(kind(), size(), [&](Group group) {
    for (Algorithm algorithm : those_of(group, kAllReduces))
      for (std::size_t count : lengths_for(size())) {
        auto values = array_of<float>(group.rank(), count);
        group.all_reduce(values, ReduceOp::sum, algorithm);
        ASSERT_EQ(values, expected<float>(size(), count, ReduceOp::sum))
            << name_of(algorithm) << ", " << count << " floats, rank " << group.rank();
      }
  });
}

TEST_P(AllReduce, WorksInPlaceOnTheGroupsMemory) {
  run_ranks(kind(), size(), [&](Group group) {
    for (Algorithm algorithm : those_of(group, kAllReduces))
      for (std::size_t count : {1ul, 1000ul, kStagedFloats + 1}) {
        Memory memory = group.allocate((count + 5) * sizeof(float));
        std::span<float> values = memory.as<float>().subspan(5, count);
        for (std::size_t i = 0; i < count; ++i) values[i] = element<float>(group.rank(), i);
        group.all_reduce(values, ReduceOp::average, algorithm);
        const auto sums = expected<float>(size(), count, ReduceOp::average);
        ASSERT_TRUE(std::equal(values.begin(), values.end(), sums.begin())) << name_of(algorithm);
      }
  });
}

TEST_P(AllReduce, RanksMayMixTheirOwnAndTheGroupsMemory) {
  run_ranks(kind(), size(), [&](Group group) {
    const std::size_t count = kStagedFloats + 33;
    Memory memory = group.allocate(count * sizeof(float));
    std::vector<float> own(count);
    std::span<float> values = group.rank() % 2 == 0 ? memory.as<float>() : std::span(own);
    for (std::size_t i = 0; i < count; ++i) values[i] = element<float>(group.rank(), i);
    group.all_reduce(values);
    const auto sums = expected<float>(size(), count, ReduceOp::sum);
    ASSERT_TRUE(std::equal(values.begin(), values.end(), sums.begin()));
  });
}

template <typename T>
void expect_reductions(Group& group, std::initializer_list<ReduceOp> ops) {
  for (ReduceOp op : ops)
    for (Algorithm algorithm : those_of(group, kAllReduces)) {
      auto values = array_of<T>(group.rank(), 100);
      group.all_reduce(values, op, algorithm);
      ASSERT_EQ(values, expected<T>(group.size(), 100, op))
          << name_of(DataTypeOf<T>::value) << " " << name_of(op) << " " << name_of(algorithm);
    }
}

TEST_P(AllReduce, HasEveryTypeAndReduction) {
  run_ranks(kind(), size(), [&](Group group) {
    using enum ReduceOp;
    expect_reductions<float>(group, {sum, average, min, max, product});
    expect_reductions<double>(group, {sum, average, min, max, product});
    // Their sums are exact here; an average or a product may be rounded once a step.
    expect_reductions<Float16>(group, {sum, min, max});
    expect_reductions<BFloat16>(group, {sum, min, max});
    expect_reductions<std::int32_t>(group, {sum, min, max, product});
    expect_reductions<std::int64_t>(group, {sum, min, max, product});
    expect_reductions<std::uint8_t>(group, {sum, min, max, product});
  });
}

TEST_P(AllReduce, AlgorithmsThatAddAlongTheTreeGiveTheSameBits) {
  // For powers of two; else halving-doubling folds the surplus ranks in first.
  const bool power = (size() & (size() - 1)) == 0;
  run_ranks(kind(), size(), [&](Group group) {
    std::vector<float> original(10'001);
    for (std::size_t i = 0; i < original.size(); ++i)
      original[i] = 1.0f / static_cast<float>(3 + i + static_cast<std::size_t>(group.rank()) * i);
    auto direct = original, tree = original, halving = original;
    group.all_reduce(tree, ReduceOp::average, Algorithm::tree);
    if (group.has(Algorithm::direct)) {
      group.all_reduce(direct, ReduceOp::average, Algorithm::direct);
      ASSERT_EQ(direct, tree);
    }
    group.all_reduce(halving, ReduceOp::average, Algorithm::halving_doubling);
    if (power) {
      ASSERT_EQ(tree, halving);
    }
  });
}

TEST_P(AllReduce, AHalvingReduceScatterAddsAlongTheTreeToo) {
  const bool power = (size() & (size() - 1)) == 0;
  run_ranks(kind(), size(), [&](Group group) {
    constexpr std::size_t kPart = 1003;
    const auto rank = static_cast<std::size_t>(group.rank());
    std::vector<float> all(kPart * static_cast<std::size_t>(group.size())), mine(kPart);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = 1.0f / static_cast<float>(3 + i + rank * i);
    group.reduce_scatter(all, mine, ReduceOp::average, Algorithm::halving_doubling);
    group.all_reduce(all, ReduceOp::average, power ? Algorithm::tree : Algorithm::halving_doubling);
    ASSERT_TRUE(std::equal(mine.begin(), mine.end(), all.begin() + rank * kPart));
  });
}

// Sums that float32 rounds differently in another order: only the tree gives these bits.
TEST_P(AllReduce, DirectAndTreeAddAlongTheFixedTree) {
  run_ranks(kind(), size(), [&](Group group) {
    auto value = [](int rank) { return 1.0f / static_cast<float>(3 + rank * rank); };
    std::function<float(int, int)> tree = [&](int first, int width) {
      if (width == 1) return value(first);
      if (first + width / 2 >= size()) return tree(first, width / 2);
      return tree(first, width / 2) + tree(first + width / 2, width / 2);
    };
    for (Algorithm algorithm : those_of(group, std::array{Algorithm::direct, Algorithm::tree})) {
      std::vector<float> values(1000, value(group.rank()));
      group.all_reduce(values, ReduceOp::sum, algorithm);
      ASSERT_EQ(values, std::vector<float>(1000, tree(0, 8))) << name_of(algorithm);
    }
  });
}

TEST_P(AllReduce, CountersMatchTheCostTable) {
  run_ranks(kind(), size(), [&](Group group) {
    // A count that the ranks divide into whole cache lines.
    const std::size_t count = 16 * 3 * 5 * 8 * 10;
    const auto ranks = static_cast<std::uint64_t>(size());
    std::vector<float> values(count);
    for (Algorithm algorithm : those_of(group, std::array{Algorithm::ring, Algorithm::direct})) {
      const std::uint64_t before = group.counters().bytes;
      group.all_reduce(values, ReduceOp::sum, algorithm);
      // direct rounds its slices up to cache lines, so one rank may have a shorter slice.
      const double expected_bytes = 2.0 * 4 * count * static_cast<double>(ranks - 1) / size();
      const double moved = static_cast<double>(group.counters().bytes - before);
      if (algorithm == Algorithm::ring) {
        EXPECT_EQ(moved, expected_bytes);
      } else {
        EXPECT_NEAR(moved, expected_bytes, 2.0 * 64 * size() * size());
      }
    }
  });
}

// A rank may expose its next array while others still read its last: without a barrier in between,
// the two must be at different places, whatever their lengths.
TEST_P(AllReduce, ShortAndLongArraysAlternateWithoutABarrier) {
  run_ranks(kind(), size(), [&](Group group) {
    const std::vector<std::size_t> counts{1, 1024, 1, 1000, 20'000, 1024, 0, 2048, 4096, 4097};
    Memory memory = group.allocate(4097 * sizeof(float));
    for (int round = 0; round < (group.has(Algorithm::direct) ? 20 : 2); ++round)
      for (std::size_t count : counts) {
        std::vector<float> own(count, static_cast<float>(group.rank() + round));
        group.all_reduce(own);
        const auto sum = static_cast<float>(size() * round + size() * (size() - 1) / 2);
        ASSERT_EQ(own, std::vector<float>(count, sum)) << "round " << round;
        if (count > 4097) continue;
        const std::span<float> shared = memory.as<float>().first(count);
        std::ranges::fill(shared, static_cast<float>(group.rank() - round));
        group.all_reduce(shared, ReduceOp::max);
        for (float value : shared) ASSERT_EQ(value, static_cast<float>(size() - 1 - round));
      }
  });
}

}  // namespace
}  // namespace lockstep::internal
