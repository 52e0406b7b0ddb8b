// local-sgd on a quadratic, whose steps have a closed form.
#include "support/ranks.h"
#include "support/trained_ranks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::internal::sync {
namespace {

using testing::floats;
using testing::RankKind;
using testing::run_ranks;
using testing::TrainedRank;

const std::vector<Parameter> kParameters{{"a", 40}, {"b", 1}};

/// Rank r's loss is c/2 (w − t)² with c = r + 1, t = 10 r. Uses the gradient at the rank's weights.
void step(TrainedRank& rank) {
  const auto r = static_cast<float>(rank.group.rank());
  const auto& slots = rank.gradients.layout().slots();
  rank.step([&](std::size_t parameter, std::size_t i) {
    return (r + 1) * (floats(rank.weights)[slots[parameter].begin + i] - 10 * r);
  });
}

TEST(LocalSgd, AveragesTheWorkersSeparateResults) {
  for (RankKind kind : {RankKind::thread, RankKind::process})
    run_ranks(kind, 3, [](Group group) {
      constexpr double kRate = 0.1;
      constexpr int kLocal = 4;
      TrainedRank rank(group, kParameters, "local-sgd", {.learning_rate = kRate},
                       {.local_steps = kLocal});
      for (int i = 0; i < 2 * kLocal; ++i) step(rank);
      const std::vector<float> weights = rank.trained();
      // After H steps rank r is at t + (1 − lr c)^H (w − t); all ranks continue from the mean.
      for (std::size_t i = 0; i < kParameters[0].count; ++i) {
        double w = static_cast<double>((rank.gradients.layout().slots()[0].begin + i) % 7);
        for (int round = 0; round < 2; ++round) {
          double sum = 0;
          for (int r = 0; r < 3; ++r)
            sum += 10 * r + std::pow(1 - kRate * (r + 1), kLocal) * (w - 10 * r);
          w = sum / 3;
        }
        ASSERT_NEAR(weights[i], w, 1e-4);
      }
    });
}

TEST(LocalSgd, WorkersDifferBetweenAveragesAndAgreeAfterSettling) {
  run_ranks(RankKind::thread, 2, [](Group group) {
    TrainedRank rank(group, kParameters, "local-sgd", {.learning_rate = 0.1, .momentum = 0.9},
                     {.local_steps = 3});
    auto spread = [&](const ArrayView& values) {
      std::vector<float> largest(floats(values).begin(), floats(values).end());
      std::vector<float> smallest = largest;
      group.all_reduce(largest, ReduceOp::max);
      group.all_reduce(smallest, ReduceOp::min);
      return largest[0] - smallest[0];
    };
    step(rank);
    EXPECT_GT(spread(rank.weights), 0.1F);
    rank.method->settle(*rank.optimizer);
    EXPECT_EQ(spread(rank.weights), 0);
    EXPECT_EQ(spread(rank.optimizer->state()[0].values), 0) << "momentum is averaged too";
    const std::uint64_t before = group.counters().operations;
    step(rank);
    step(rank);
    EXPECT_EQ(group.counters().operations, before) << "local steps send nothing";
    step(rank);
    EXPECT_EQ(spread(rank.weights), 0) << "three steps after settling all are equal again";
  });
}

TEST(LocalSgd, WithOneStepEqualsDdpUpToRounding) {
  run_ranks(RankKind::thread, 4, [](Group group) {
    const optim::SgdOptions sgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 1e-3};
    TrainedRank local(group, kParameters, "local-sgd", sgd, {.local_steps = 1});
    TrainedRank ddp(group, kParameters, "ddp", sgd);
    for (int i = 0; i < 5; ++i) {
      step(local);
      step(ddp);
    }
    const std::vector<float> a = local.trained(), b = ddp.trained();
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 1e-4 * std::abs(b[i]) + 1e-5);
  });
}

}  // namespace
}  // namespace lockstep::internal::sync
