// Parameter servers: synchronous ones average, asynchronous ones bound each worker's lead, and a
// rank that dies is named.
#include "sync/methods/server.h"

#include "support/ranks.h"
#include "support/trained_ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <gmock/gmock.h>
#include <thread>

namespace lockstep::internal::sync {
namespace {

using ::testing::AllOf;
using testing::errors_of_ranks;
using testing::floats;
using ::testing::HasSubstr;
using testing::RankKind;
using testing::run_ranks;
using testing::TrainedRank;

const std::vector<Parameter> kParameters{{"a", 100}, {"b", 1}, {"c", 5000}, {"d", 17}};
constexpr optim::SgdOptions kSgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 1e-3};

float gradient(int rank, int step, std::size_t parameter, std::size_t i) {
  return static_cast<float>((rank + 1) * (step + 2)) / static_cast<float>(3 + parameter + i % 11);
}

void train(TrainedRank& rank, int steps) {
  for (int step = 0; step < steps; ++step)
    rank.step([&](std::size_t parameter, std::size_t i) {
      return gradient(rank.group.rank(), step, parameter, i);
    });
}

/// The same to the bit on all ranks.
void expect_same_on_all(Group& group, const std::vector<float>& mine) {
  std::vector<float> largest = mine, smallest = mine;
  group.all_reduce(largest, ReduceOp::max);
  group.all_reduce(smallest, ReduceOp::min);
  EXPECT_EQ(largest, smallest);
}

class Servers : public ::testing::TestWithParam<std::tuple<RankKind, int, int>> {};

INSTANTIATE_TEST_SUITE_P(All, Servers,
                         ::testing::Combine(::testing::Values(RankKind::thread, RankKind::process,
                                                              RankKind::gloo),
                                            ::testing::Values(1, 2, 4), ::testing::Values(1, 2, 4)),
                         [](const auto& info) {
                           return fmt::format("{}{}_{}servers",
                                              testing::name_of(std::get<0>(info.param)),
                                              std::get<1>(info.param), std::get<2>(info.param));
                         });

TEST_P(Servers, ThatAreSynchronousEndWithTheWeightsOfDdpToTheBit) {
  const auto& [kind, size, servers] = GetParam();
  if (servers > size) GTEST_SKIP() << "more servers than ranks";
  run_ranks(kind, size, [servers = servers](Group group) {
    TrainedRank ddp(group, kParameters, "ddp", kSgd, {}, "tree");
    TrainedRank served(group, kParameters, "server", kSgd, {.servers = servers});
    train(ddp, 4);
    train(served, 4);
    EXPECT_EQ(served.trained(), ddp.trained());
  });
}

TEST_P(Servers, ThatAreAsynchronousApplyEveryGradientOnce) {
  const auto& [kind, size, servers] = GetParam();
  if (servers > size) GTEST_SKIP() << "more servers than ranks";
  run_ranks(kind, size, [servers = servers](Group group) {
    // Updates of plain SGD add up, so their order matters for rounding only.
    const optim::SgdOptions sgd{.learning_rate = 0.01};
    TrainedRank ddp(group, kParameters, "ddp", sgd);
    TrainedRank served(group, kParameters, "server", sgd, {.staleness = 2, .servers = servers});
    train(ddp, 6);
    train(served, 6);
    const std::vector<float> expected = ddp.trained(), weights = served.trained();
    for (std::size_t i = 0; i < weights.size(); ++i) ASSERT_NEAR(weights[i], expected[i], 1e-4);
    expect_same_on_all(group, weights);
    // After settling, steps count from 0 again.
    train(served, 2);
    expect_same_on_all(group, served.trained());
  });
}

TEST(ServerStaleness, BoundsEveryWorkersLead) {
  for (int staleness : {1, 3})
    run_ranks(RankKind::thread, 3, [staleness](Group group) {
      TrainedRank rank(group, kParameters, "server", {.learning_rate = 0.01},
                       {.staleness = staleness, .servers = 2});
      for (int step = 0; step < 12; ++step) {
        if (group.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        rank.step([](std::size_t, std::size_t) { return 1.0F; });
      }
      rank.trained();
      const auto& server = dynamic_cast<Server&>(*rank.method);
      if (group.rank() < 2) {
        EXPECT_EQ(server.largest_lead(), staleness);
      }
    });
}

TEST(ServerStaleness, SynchronousServersAllowNoLead) {
  run_ranks(RankKind::thread, 3, [](Group group) {
    TrainedRank rank(group, kParameters, "server", kSgd);
    train(rank, 5);
    rank.trained();
    EXPECT_LE(dynamic_cast<Server&>(*rank.method).largest_lead(), 0);
  });
}

TEST(ServerState, ExistsOnlyOnRanksWithServers) {
  run_ranks(RankKind::thread, 3, [](Group group) {
    TrainedRank rank(group, kParameters, "server", kSgd, {.servers = 2});
    std::size_t all = 0;
    for (int other = 0; other < 3; ++other)
      for (const Slot& run : rank.method->runs_of(other)) {
        EXPECT_EQ(run.begin, all);
        all += run.count;
      }
    EXPECT_EQ(all, rank.gradients.layout().size());
    EXPECT_EQ(rank.method->runs_of(2).size(), 0u);
    EXPECT_EQ(rank.optimizer->state().size(), group.rank() < 2 ? 1u : 0u);
  });
}

class ServerDeath : public ::testing::TestWithParam<std::tuple<int, bool>> {};

INSTANTIATE_TEST_SUITE_P(All, ServerDeath,
                         ::testing::Combine(::testing::Values(0, 2), ::testing::Bool()),
                         [](const auto& info) {
                           return fmt::format("Of{}{}",
                                              std::get<0>(info.param) == 0 ? "AServer" : "AWorker",
                                              std::get<1>(info.param) ? "Asynchronous" : "");
                         });

TEST_P(ServerDeath, IsReportedToAllSurvivors) {
  const auto& [dying, asynchronous] = GetParam();
  const std::optional<int> staleness = asynchronous ? std::optional(2) : std::nullopt;
  const auto errors = errors_of_ranks(RankKind::process, 3,
                                      [=, dying = dying](Group group) {
                                        TrainedRank rank(group, kParameters, "server", kSgd,
                                                         {.staleness = staleness, .servers = 2});
                                        train(rank, 2);
                                        if (group.rank() == dying) ::kill(::getpid(), SIGKILL);
                                        train(rank, 50);
                                      },
                                      {.timeout = std::chrono::seconds(20)});
  for (int rank = 0; rank < 3; ++rank) {
    const std::string& error = errors[static_cast<std::size_t>(rank)];
    if (rank == dying) {
      EXPECT_EQ(error, "(died)");
    } else {
      EXPECT_THAT(error, AllOf(HasSubstr(fmt::format("rank {} (pid", dying)), HasSubstr("died")));
    }
  }
}

}  // namespace
}  // namespace lockstep::internal::sync
