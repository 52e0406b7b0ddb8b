// Every collective against its closed form, over transports × ranks × lengths around every edge.
#include <lockstep/group.h>

#include "base/deadline.h"
#include "comm/shared/direct.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace lockstep::internal {
namespace {

using testing::RankKind;
using testing::run_ranks;

constexpr std::size_t kStagedFloats = comm::SharedDirect::kPieceBytes / sizeof(float);
constexpr std::size_t kChannelFloats = comm::Channel::kCapacity / sizeof(float);

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

class Collectives : public ::testing::TestWithParam<std::tuple<RankKind, int>> {
 protected:
  RankKind kind() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(AllWorlds, Collectives,
                         ::testing::Combine(::testing::ValuesIn(testing::kinds()),
                                            ::testing::ValuesIn(testing::world_sizes())),
                         [](const auto& info) {
                           return testing::name_of(std::get<0>(info.param)) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(Collectives, AllReduceSumsByEveryAlgorithm) {
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

TEST_P(Collectives, AllReduceWorksInPlaceOnTheGroupsMemory) {
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

TEST_P(Collectives, RanksMayMixTheirOwnAndTheGroupsMemory) {
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

TEST_P(Collectives, AllReduceHasEveryTypeAndReduction) {
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

TEST_P(Collectives, ReduceGivesTheRootTheResult) {
  run_ranks(kind(), size(), [&](Group group) {
    for (Algorithm algorithm : those_of(group, std::array{Algorithm::automatic, Algorithm::star,
                                                          Algorithm::tree, Algorithm::native}))
      for (int root = 0; root < size(); ++root)
        for (std::size_t count : {0ul, 1ul, 1000ul, kChannelFloats + 1}) {
          auto values = array_of<float>(group.rank(), count);
          group.reduce(values, ReduceOp::average, root, algorithm);
          if (group.rank() == root) {
            ASSERT_EQ(values, expected<float>(size(), count, ReduceOp::average))
                << name_of(algorithm);
          }
        }
  });
}

TEST_P(Collectives, ReduceScatterGivesEachRankItsPart) {
  run_ranks(kind(), size(), [&](Group group) {
    for (Algorithm algorithm :
         those_of(group, std::array{Algorithm::automatic, Algorithm::ring, Algorithm::direct,
                                    Algorithm::halving_doubling, Algorithm::native}))
      for (std::size_t count : {0ul, 1ul, 17ul, kStagedFloats + 1}) {
        const std::size_t whole = count * static_cast<std::size_t>(size());
        const auto all = array_of<float>(group.rank(), whole);
        std::vector<float> mine(count);
        group.reduce_scatter(all, mine, ReduceOp::sum, algorithm);
        const auto sums = expected<float>(size(), whole, ReduceOp::sum);
        const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(count) * group.rank();
        ASSERT_TRUE(std::equal(mine.begin(), mine.end(), begin)) << name_of(algorithm) << count;
        ASSERT_EQ(all, array_of<float>(group.rank(), whole)) << "the input was written";
      }
  });
}

TEST_P(Collectives, AllGatherGivesEveryRankAllParts) {
  run_ranks(kind(), size(), [&](Group group) {
    for (Algorithm algorithm : those_of(group, std::array{Algorithm::automatic, Algorithm::ring,
                                                          Algorithm::direct, Algorithm::native}))
      for (std::size_t count : {0ul, 1ul, 17ul, kStagedFloats + 1}) {
        std::vector<float> expected_all;
        for (int rank = 0; rank < size(); ++rank)
          for (float value : array_of<float>(rank, count)) expected_all.push_back(value);
        const auto mine = array_of<float>(group.rank(), count);
        std::vector<float> all(expected_all.size());
        group.all_gather(mine, all, algorithm);
        ASSERT_EQ(all, expected_all) << name_of(algorithm) << " of " << count;
        // In place: this rank's part of the group's own memory.
        Memory memory = group.allocate(all.size() * sizeof(float));
        const std::span<float> shared = memory.as<float>().first(all.size());
        const std::span<float> part =
            shared.subspan(count * static_cast<std::size_t>(group.rank()), count);
        std::copy(mine.begin(), mine.end(), part.begin());
        group.all_gather(part, shared, algorithm);
        ASSERT_TRUE(std::equal(shared.begin(), shared.end(), expected_all.begin()));
      }
  });
}

TEST_P(Collectives, AlgorithmsThatAddAlongTheTreeGiveTheSameBits) {
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

TEST_P(Collectives, AHalvingReduceScatterAddsAlongTheTreeToo) {
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

TEST_P(Collectives, EveryCollectiveHasAnAsynchronousVersion) {
  run_ranks(kind(), size(), [&](Group group) {
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<float> a(8, 1), b(8, 1), c(8, static_cast<float>(group.rank())), part(8),
        all(8 * ranks, 1);
    std::vector<float> gathered(8 * ranks), rooted(8 * ranks), scattered(8);
    std::vector<Work> works{group.all_reduce_async(a),
                            group.reduce_async(b),
                            group.broadcast_async(c, size() - 1),
                            group.reduce_scatter_async(all, part),
                            group.barrier_async(),
                            group.all_gather_async(a, gathered),
                            group.gather_async(a, rooted),
                            group.scatter_async(rooted, scattered)};
    for (Work& work : works) work.wait();
    const auto sum = static_cast<float>(size());
    EXPECT_EQ(a, std::vector<float>(8, sum));
    EXPECT_EQ(c, std::vector<float>(8, sum - 1));
    EXPECT_EQ(part, std::vector<float>(8, sum));
    EXPECT_EQ(gathered, std::vector<float>(8 * ranks, sum));
    EXPECT_EQ(scattered, std::vector<float>(8, sum));
    if (group.rank() == 0) {
      EXPECT_EQ(b, std::vector<float>(8, sum));
    }
  });
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  run_ranks(kind(), size(), [&](Group group) {
    for (Algorithm algorithm :
         those_of(group, std::array{Algorithm::automatic, Algorithm::star, Algorithm::tree,
                                    Algorithm::direct, Algorithm::native}))
      for (int root = 0; root < size(); ++root)
        for (std::size_t count : {0ul, 1ul, 1000ul, kStagedFloats + 1}) {
          auto values = array_of<float>(group.rank(), count);
          group.broadcast(values, root, algorithm);
          ASSERT_EQ(values, array_of<float>(root, count)) << name_of(algorithm);
        }
  });
}

TEST_P(Collectives, GatherThenScatterGivesBackEachRanksPart) {
  run_ranks(kind(), size(), [&](Group group) {
    for (int root = 0; root < size(); ++root)
      for (std::size_t count : {0ul, 1ul, 17ul, kChannelFloats + 1}) {
        const auto mine = array_of<double>(group.rank(), count);
        std::vector<double> all(group.rank() == root ? count * static_cast<std::size_t>(size())
                                                     : 0);
        group.gather(mine, all, root);
        for (int rank = 0; group.rank() == root && rank < size(); ++rank) {
          const auto begin = all.begin() + static_cast<std::ptrdiff_t>(count) * rank;
          const auto part = array_of<double>(rank, count);
          ASSERT_TRUE(std::equal(part.begin(), part.end(), begin)) << rank;
        }
        std::vector<double> back(count);
        group.scatter(all, back, root);
        ASSERT_EQ(back, mine);
      }
  });
}

TEST_P(Collectives, MessagesAreMatchedBySenderAndTagInOrder) {
  run_ranks(kind(), size(), [&](Group group) {
    // Every rank sends long messages to every other rank before any rank receives, and receives in
    // reverse order.
    const std::size_t count = kChannelFloats + 3;
    std::vector<std::vector<float>> sent;
    std::vector<Work> sends;
    for (int peer = 0; peer < size(); ++peer)
      for (int tag = 0; tag < 3; ++tag) {
        sent.emplace_back(count, static_cast<float>(100 * group.rank() + 10 * peer + tag));
        if (peer != group.rank()) sends.push_back(group.isend(sent.back(), peer, tag));
      }
    for (int peer = size() - 1; peer >= 0; --peer)
      for (int tag : {2, 0, 1}) {
        if (peer == group.rank()) continue;
        std::vector<float> received(count);
        group.recv(received, peer, tag);
        ASSERT_EQ(received, std::vector<float>(
                                count, static_cast<float>(100 * peer + 10 * group.rank() + tag)));
      }
    for (Work& send : sends) send.wait();
  });
}

TEST_P(Collectives, AsynchronousAndBlockingCollectivesRunInOrder) {
  run_ranks(kind(), size(), [&](Group group) {
    std::vector<std::vector<float>> arrays(20, std::vector<float>(100, 1.0f));
    std::vector<Work> works;
    for (auto& array : arrays) works.push_back(group.all_reduce_async(array));
    std::vector<float> blocking(10, 2.0f);
    group.all_reduce(blocking);
    for (Work& work : works) EXPECT_TRUE(work.done()) << "an earlier one was still pending";
    for (Work& work : works) work.wait();
    const auto ranks = static_cast<float>(size());
    for (auto& array : arrays) ASSERT_EQ(array, std::vector<float>(100, ranks));
    ASSERT_EQ(blocking, std::vector<float>(10, 2 * ranks));
  });
}

TEST_P(Collectives, BarrierWaitsForAllRanks) {
  run_ranks(kind(), size(), [&](Group group) {
    // All ranks read one clock: no rank may leave before the last one has arrived.
    constexpr std::size_t kRounds = 100;
    std::vector<double> came(kRounds), through(kRounds);
    for (std::size_t round = 0; round < kRounds; ++round) {
      came[round] = now_seconds();
      group.barrier();
      through[round] = now_seconds();
    }
    group.all_reduce(came, ReduceOp::max);
    group.all_reduce(through, ReduceOp::min);
    for (std::size_t round = 0; round < kRounds; ++round) ASSERT_GE(through[round], came[round]);
  });
}

TEST_P(Collectives, CountersMatchTheCostTable) {
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
TEST_P(Collectives, ShortAndLongArraysAlternateWithoutABarrier) {
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

// Sums that float32 rounds differently in another order: only the tree gives these bits.
TEST_P(Collectives, DirectAndTreeAddAlongTheFixedTree) {
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

TEST_P(Collectives, SplitMakesGroupsByColorInTheOrderOfTheirKeys) {
  run_ranks(kind(), size(), [&](Group group) {
    // Odd and even ranks form two groups, in reverse order.
    Group part = group.split(group.rank() % 2, -group.rank());
    const int members = (size() + 1 - group.rank() % 2) / 2;
    ASSERT_EQ(part.size(), members);
    ASSERT_EQ(part.rank(), members - 1 - group.rank() / 2);
    ASSERT_EQ(part.transport(), group.transport());
    for (std::size_t count : {1ul, 1000ul, kStagedFloats + 1}) {
      std::vector<float> values(count, static_cast<float>(group.rank()));
      part.all_reduce(values, ReduceOp::max);
      const int highest = group.rank() % 2 + 2 * (members - 1);
      ASSERT_EQ(values, std::vector<float>(count, static_cast<float>(highest)));
    }
    // Both groups stay usable, and so does a group split from a part.
    Group whole = group.split(0);
    ASSERT_EQ(whole.rank(), group.rank());
    Group alone = part.split(part.rank());
    ASSERT_EQ(alone.size(), 1);
    std::vector<std::int64_t> ones{1};
    for (Group* each : {&group, &part, &whole, &alone}) {
      ones[0] = 1;
      each->all_reduce(ones);
      ASSERT_EQ(ones[0], each->size());
    }
  });
}

TEST_P(Collectives, GroupsOfOneProcessAreIndependent) {
  run_ranks(kind(), size(), [&](Group group) {
    Group other = group.split(0);
    std::vector<float> here(50'000, 1.0f), there(50'000, 2.0f);
    Work first = group.all_reduce_async(here);
    Work second = other.all_reduce_async(there);
    second.wait();
    first.wait();
    ASSERT_EQ(here.back(), static_cast<float>(size()));
    ASSERT_EQ(there.back(), 2.0f * static_cast<float>(size()));
  });
}

}  // namespace
}  // namespace lockstep::internal
