// sharded: each rank updates its parts, and the weights are those of ddp to the bit.
#include "sync/methods/sharded.h"

#include "base/random.h"
#include "support/ranks.h"
#include "support/trained_ranks.h"
#include "sync/whole_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace lockstep::internal::sync {
namespace {

using testing::RankKind;
using testing::run_ranks;
using testing::TrainedRank;

const std::vector<Parameter> kParameters{{"a", 100}, {"b", 1}, {"c", 5000}, {"d", 17}, {"e", 300}};
constexpr optim::SgdOptions kSgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 1e-3};

/// Values of very different size, so that every order of addition rounds differently.
float gradient(int rank, int step, std::size_t parameter, std::size_t i) {
  Random random(static_cast<std::uint64_t>(rank) * 101 + static_cast<std::uint64_t>(step),
                parameter, i);
  return std::ldexp(static_cast<float>(random.uniform() - 0.5),
                    static_cast<int>(random.below(12)) - 8);
}

void train(TrainedRank& rank, int from, int to) {
  for (int step = from; step < to; ++step)
    rank.step([&](std::size_t parameter, std::size_t i) {
      return gradient(rank.group.rank(), step, parameter, i);
    });
}

class ShardedRanks : public ::testing::TestWithParam<std::tuple<RankKind, int>> {};

INSTANTIATE_TEST_SUITE_P(All, ShardedRanks,
                         ::testing::Combine(::testing::Values(RankKind::thread, RankKind::process,
                                                              RankKind::gloo),
                                            ::testing::Values(1, 2, 3, 4)),
                         [](const auto& info) {
                           return fmt::format("{}{}", testing::name_of(std::get<0>(info.param)),
                                              std::get<1>(info.param));
                         });

TEST_P(ShardedRanks, EndWithTheWeightsOfDdpToTheBit) {
  const auto& [kind, size] = GetParam();
  run_ranks(kind, size, [](Group group) {
    const bool along_tree =
        group.has(Algorithm::direct) || std::has_single_bit(static_cast<unsigned>(group.size()));
    TrainedRank ddp(group, kParameters, "ddp", kSgd, {}, "tree");
    TrainedRank sharded(group, kParameters, "sharded", kSgd);
    train(ddp, 0, 4);
    train(sharded, 0, 4);
    const std::vector<float> a = ddp.trained(), b = sharded.trained();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (along_tree) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(a[i]), std::bit_cast<std::uint32_t>(b[i])) << i;
      } else {
        ASSERT_NEAR(a[i], b[i], 1e-4) << i;
      }
    }
  });
}

TEST_P(ShardedRanks, KeepOneWthOfTheStateEach) {
  const auto& [kind, size] = GetParam();
  run_ranks(kind, size, [](Group group) {
    TrainedRank rank(group, kParameters, "sharded", kSgd);
    const std::size_t all = rank.gradients.layout().size();
    ASSERT_EQ(rank.optimizer->state().size(), 1u);
    EXPECT_EQ(rank.optimizer->state()[0].values.count * static_cast<std::size_t>(group.size()),
              all);
    std::vector<int> owners(all);
    for (int other = 0; other < group.size(); ++other)
      for (const Slot& run : rank.method->runs_of(other))
        for (std::size_t i = run.begin; i < run.begin + run.count; ++i) ++owners[i];
    EXPECT_EQ(owners, std::vector<int>(all, 1)) << "every weight is updated by one rank";
  });
}

TEST_P(ShardedRanks, ResumeFromAnAssembledState) {
  const auto& [kind, size] = GetParam();
  run_ranks(kind, size, [](Group group) {
    TrainedRank first(group, kParameters, "sharded", kSgd);
    train(first, 0, 2);
    const std::vector<WholeState> state =
        gather_state(group, *first.method, *first.optimizer, first.gradients.layout());
    ASSERT_EQ(state.size(), group.rank() == 0 ? 1u : 0u);
    std::vector<std::byte> momentum(first.gradients.layout().bytes());
    if (group.rank() == 0) momentum = state[0].values;
    const ArrayView whole(momentum.data(), first.weights.count, DataType::float32);
    group.broadcast(whole);

    TrainedRank second(group, kParameters, "sharded", kSgd);
    std::memcpy(second.weights.data, first.weights.data, first.weights.bytes());
    second.method->adopt_weights();
    take_slice(group, *second.method, whole, second.optimizer->state()[0].values);
    train(first, 2, 4);
    train(second, 2, 4);
    EXPECT_EQ(first.trained(), second.trained());
  });
}

TEST(Sharded, MovesNoMoreThanDdp) {
  run_ranks(RankKind::thread, 4, [](Group group) {
    auto bytes_of = [&](const char* sync) {
      TrainedRank rank(group, kParameters, sync, kSgd);
      train(rank, 0, 1);
      const std::uint64_t before = group.counters().bytes;
      train(rank, 1, 2);
      return static_cast<double>(group.counters().bytes - before);
    };
    const double least = 2 * 3.0 / 4 * 4 * 5418;
    EXPECT_NEAR(bytes_of("sharded") / least, 1, 0.1);  // gaps make up the difference
  });
}

}  // namespace
}  // namespace lockstep::internal::sync
