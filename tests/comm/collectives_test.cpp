// Every collective against its closed form, over transports × ranks × lengths around every edge.
#include <lockstep/group.h>

#include "comm/shared/blackboard.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <set>

namespace lockstep {
namespace {

using testing::RankKind;
using testing::run_ranks;

constexpr std::size_t kStagedFloats = comm::Blackboard::kStagingBytes / sizeof(float);
constexpr std::size_t kChannelFloats = comm::Channel::kCapacity / sizeof(float);

/// Lengths around the edges that matter to a group of `ranks`: none, one, a rank more or less than
/// one element each, a cache line, a channel's and a staging area's capacity.
std::set<std::size_t> lengths_for(int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  std::set<std::size_t> lengths{0, 1, 15, 16, 17, 1000};
  for (std::size_t edge : {size, 16 * size, kChannelFloats, kStagedFloats, 2 * kStagedFloats})
    lengths.insert({edge - 1, edge, edge + 1});
  return lengths;
}

/// Element i of rank r's array. Small integers, so that sums are exact in any order.
template <typename T>
T element(int rank, std::size_t i) {
  return static_cast<T>((i * 7 + static_cast<std::size_t>(rank) * 3) % 11);
}

template <typename T>
std::vector<T> array_of(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element<T>(rank, i);
  return values;
}

/// The all-reduced array, computed here.
template <typename T>
std::vector<T> expected(int size, std::size_t count, ReduceOp op) {
  std::vector<T> result = array_of<T>(0, count);
  for (int rank = 1; rank < size; ++rank)
    for (std::size_t i = 0; i < count; ++i) {
      const T other = element<T>(rank, i);
      if (op == ReduceOp::min) result[i] = std::min(result[i], other);
      if (op == ReduceOp::max) result[i] = std::max(result[i], other);
      if (op == ReduceOp::sum || op == ReduceOp::average)
        result[i] = static_cast<T>(result[i] + other);
    }
  if (op == ReduceOp::average)
    for (T& value : result) value = value * (T(1) / static_cast<T>(size));
  return result;
}

class Collectives : public ::testing::TestWithParam<std::tuple<RankKind, int>> {
 protected:
  RankKind kind() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(AllWorlds, Collectives,
                         ::testing::Combine(::testing::Values(RankKind::thread, RankKind::process),
                                            ::testing::Values(1, 2, 3, 4, 5, 8)),
                         [](const auto& info) {
                           return testing::name_of(std::get<0>(info.param)) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(Collectives, AllReduceSumsByEveryAlgorithm) {
  run_ranks(kind(), size(), [&](Group group) {
    for (Algorithm algorithm :
         {Algorithm::automatic, Algorithm::star, Algorithm::ring, Algorithm::direct})
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
    for (Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::star})
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
    group.all_reduce(values, ReduceOp::sum, Algorithm::direct);
    const auto sums = expected<float>(size(), count, ReduceOp::sum);
    ASSERT_TRUE(std::equal(values.begin(), values.end(), sums.begin()));
  });
}

template <typename T>
void expect_reductions(Group& group, std::initializer_list<ReduceOp> ops) {
  for (ReduceOp op : ops)
    for (Algorithm algorithm : {Algorithm::star, Algorithm::ring, Algorithm::direct}) {
      auto values = array_of<T>(group.rank(), 100);
      group.all_reduce(values, op, algorithm);
      ASSERT_EQ(values, expected<T>(group.size(), 100, op))
          << name_of(DataTypeOf<T>::value) << " " << name_of(op) << " " << name_of(algorithm);
    }
}

TEST_P(Collectives, AllReduceHasEveryTypeAndReduction) {
  run_ranks(kind(), size(), [&](Group group) {
    using enum ReduceOp;
    expect_reductions<float>(group, {sum, average, min, max});
    expect_reductions<double>(group, {sum, average, min, max});
    expect_reductions<std::int32_t>(group, {sum, min, max});
    expect_reductions<std::int64_t>(group, {sum, min, max});
    expect_reductions<std::uint8_t>(group, {sum, min, max});
  });
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  run_ranks(kind(), size(), [&](Group group) {
    for (int root = 0; root < size(); ++root)
      for (std::size_t count : {0ul, 1ul, 1000ul, kChannelFloats + 1}) {
        auto values = array_of<float>(group.rank(), count);
        group.broadcast(values, root);
        ASSERT_EQ(values, array_of<float>(root, count));
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
    // Everyone sends to everyone, long messages before anyone receives, and receives in reverse.
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

TEST_P(Collectives, AsynchronousOnesRunInOrderAndMixWithBlockingOnes) {
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

TEST_P(Collectives, BarrierLetsNobodyThroughEarly) {
  // A counter that threads and forked processes alike see.
  void* page =
      ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* arrivals = new (page) std::atomic<int>(0);
  run_ranks(kind(), size(), [&](Group group) {
    for (int round = 1; round <= 100; ++round) {
      arrivals->fetch_add(1);
      group.barrier();
      ASSERT_GE(arrivals->load(), round * size());
    }
  });
  ::munmap(page, sizeof(int));
}

TEST_P(Collectives, CountersTellTheBytesOfTheCostTable) {
  run_ranks(kind(), size(), [&](Group group) {
    // A count that the ranks divide into whole cache lines.
    const std::size_t count = 16 * 3 * 5 * 8 * 10;
    const auto ranks = static_cast<std::uint64_t>(size());
    std::vector<float> values(count);
    for (Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
      const std::uint64_t before = group.counters().bytes;
      group.all_reduce(values, ReduceOp::sum, algorithm);
      // direct rounds its slices up to cache lines, so one rank may have less than its share.
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

// The sums that float32 rounds differently in another order: only the tree gives these bits.
TEST_P(Collectives, DirectAddsAlongTheFixedTree) {
  run_ranks(kind(), size(), [&](Group group) {
    auto value = [](int rank) { return 1.0f / static_cast<float>(3 + rank * rank); };
    std::function<float(int, int)> tree = [&](int first, int width) {
      if (width == 1) return value(first);
      if (first + width / 2 >= size()) return tree(first, width / 2);
      return tree(first, width / 2) + tree(first + width / 2, width / 2);
    };
    std::vector<float> values(1000, value(group.rank()));
    group.all_reduce(values, ReduceOp::sum, Algorithm::direct);
    ASSERT_EQ(values, std::vector<float>(1000, tree(0, 8)));
  });
}

}  // namespace
}  // namespace lockstep
