// Shards: their assignment to workers, and the tree along which their gradients are added.
#include "sync/shards.h"

#include <lockstep/error.h>

#include "base/random.h"
#include "comm/reduce.h"
#include "support/ranks.h"
#include "sync/shard_sum.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace lockstep::internal::sync {
namespace {

using testing::RankKind;
using testing::run_ranks;

const std::vector<Parameter> kParameters{{"a", 100}, {"b", 1}, {"c", 3000}, {"d", 17}};
constexpr BucketOptions kBuckets{.first_bytes = 100, .bytes = 4000};

/// Values of very different size, so that every order of addition rounds differently.
float value(int shard, std::size_t parameter, std::size_t i) {
  const auto seed = static_cast<std::uint64_t>(shard) * 1000003 + parameter * 7919 + i;
  Random random(seed);
  return std::ldexp(static_cast<float>(random.below(2000)) - 1000.F,
                    static_cast<int>(random.below(20)));
}

/// The sum over all shards along the tree, of one parameter.
std::vector<float> expected(int shards, std::size_t parameter) {
  const std::size_t count = kParameters[parameter].count;
  std::vector<std::vector<float>> parts(static_cast<std::size_t>(shards));
  std::vector<void*> arrays;
  for (int shard = 0; shard < shards; ++shard) {
    auto& part = parts[static_cast<std::size_t>(shard)];
    for (std::size_t i = 0; i < count; ++i) part.push_back(value(shard, parameter, i));
    arrays.push_back(part.data());
  }
  comm::reduce_tree(arrays, arrays, count, DataType::float32, ReduceOp::sum);
  return parts.front();
}

class ShardsOnWorkers : public ::testing::TestWithParam<std::tuple<int, int, std::string>> {};

INSTANTIATE_TEST_SUITE_P(
    All, ShardsOnWorkers,
    ::testing::Combine(::testing::Values(8, 16), ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8),
                       ::testing::Values("gather-scatter", "p2p", "coordinator", "all-reduce",
                                         "tree", "halving-doubling", "ddp")),
    [](const auto& info) {
      std::string name = fmt::format("{}on{}_{}", std::get<0>(info.param), std::get<1>(info.param),
                                     std::get<2>(info.param));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST_P(ShardsOnWorkers, AddUpAlongOneTree) {
  const auto& [shards, workers, sync] = GetParam();
  run_ranks(RankKind::thread, workers, [&, shards = shards, sync = sync](Group group) {
    Gradients gradients(group, kParameters, Layout(kParameters, DataType::float32, kBuckets));
    const auto method = make_sync_method(along_tree(parse_method(sync, "auto"), group), group,
                                         gradients, ReduceOp::sum);
    const Shards mine = shards_of(shards, group.rank(), group.size());
    ShardSum sum(gradients, mine.count);
    for (int step = 0; step < 2; ++step) {
      for (int number = 0; number < mine.count; ++number) {
        sum.begin(number);
        for (std::size_t left = kParameters.size(); left > 0; --left) {
          auto* place = static_cast<float*>(gradients.of(left - 1).data);
          for (std::size_t i = 0; i < kParameters[left - 1].count; ++i)
            place[i] = value(mine.first + number, left - 1, i);
          if (sum.add(left - 1)) method->ready(left - 1);
        }
      }
      method->finish();
      for (std::size_t parameter = 0; parameter < kParameters.size(); ++parameter) {
        const std::vector<float> wanted = expected(shards, parameter);
        EXPECT_EQ(
            std::memcmp(gradients.of(parameter).data, wanted.data(), wanted.size() * sizeof(float)),
            0)
            << kParameters[parameter].name << " in step " << step;
      }
    }
  });
}

TEST(Shards, AreNeighboursOnAWorker) {
  const Shards mine = shards_of(8, 1, 2);
  EXPECT_EQ(mine.first, 4);
  EXPECT_EQ(mine.count, 4);
  EXPECT_EQ(mine.all, 8);
  const Shards ordinary = shards_of(0, 2, 3);
  EXPECT_EQ(ordinary.first, 2);
  EXPECT_EQ(ordinary.count, 1);
  EXPECT_EQ(ordinary.all, 3);
}

TEST(Shards, AreWholeBranchesOnAnyNumberOfWorkers) {
  for (int shards : {1, 2, 4, 8, 16, 64})
    for (int workers = 1; workers <= shards; ++workers) {
      int next = 0;
      for (int rank = 0; rank < workers; ++rank) {
        const Shards its = shards_of(shards, rank, workers);
        EXPECT_EQ(its.first, next) << rank << " of " << workers << " with " << shards;
        ASSERT_GT(its.count, 0);
        EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(its.count)));
        EXPECT_EQ(its.first % its.count, 0);
        next += its.count;
      }
      EXPECT_EQ(next, shards);
    }
}

TEST(Shards, OfALostWorkerGoToItsNeighbour) {
  EXPECT_EQ(shards_of(4, 0, 3).count, 1);
  EXPECT_EQ(shards_of(4, 1, 3).count, 1);
  EXPECT_EQ(shards_of(4, 2, 3).count, 2);
}

TEST(Shards, ThatCannotBeDistributedAreRefused) {
  EXPECT_NO_THROW(require_shards(0, 3));
  EXPECT_NO_THROW(require_shards(8, 1));
  EXPECT_NO_THROW(require_shards(8, 8));
  for (const auto& [shards, workers] :
       std::vector<std::pair<int, int>>{{-4, 1}, {3, 1}, {2048, 1}, {4, 3}, {4, 8}, {1, 2}})
    EXPECT_THROW(require_shards(shards, workers), UsageError) << shards << " on " << workers;
}

TEST(Shards, AlgorithmsOffTheTreeAreReported) {
  EXPECT_EQ(order_dependence(parse_method("ddp", "auto")), "");
  EXPECT_EQ(order_dependence(parse_method("tree", "auto")), "");
  EXPECT_EQ(order_dependence(parse_method("p2p", "auto")), "");
  for (const char* algorithm : {"ring", "star", "native", "hierarchical"})
    EXPECT_NE(order_dependence(parse_method("ddp", algorithm)).find(algorithm), std::string::npos);
}

TEST(Shards, TreeSumAddsNeighboursFirst) {
  constexpr double kTiny = 7e-17;  // lost when added to 1, unless two of them are added first
  EXPECT_GT(tree_sum(std::vector{1.0, kTiny, kTiny, kTiny}), 1.0);
  EXPECT_EQ(((1.0 + kTiny) + kTiny) + kTiny, 1.0);
  EXPECT_GT(tree_sum(std::vector{kTiny, kTiny, 1.0}), 1.0);
  EXPECT_EQ(tree_sum(std::vector{1.0, kTiny, kTiny}), 1.0);
  EXPECT_EQ(tree_sum({}), 0);
}

}  // namespace
}  // namespace lockstep::internal::sync
