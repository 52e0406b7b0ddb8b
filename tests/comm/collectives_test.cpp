// The other collectives, messages and groups: against closed forms, over transports × ranks.
#include <lockstep/group.h>

#include "base/deadline.h"
#include "comm/collective_arrays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace lockstep::internal {
namespace {

using testing::run_ranks;

class Collectives : public CollectivesTest {};
INSTANTIATE_TEST_SUITE_P(AllWorlds, Collectives, all_worlds(), name_of_world);

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
