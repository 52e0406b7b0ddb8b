// Ranks with different optimizers continue with rank 0's state.
#include <lockstep/ddp.h>
#include <lockstep/error.h>
#include <lockstep/shared_state.h>

#include "support/ranks.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

using testing::errors_of_ranks;
using testing::RankKind;
using Parameters = std::vector<torch::Tensor>;
using torch::optim::OptimizerParamGroup;

/// Values that are the same on all ranks, which are threads, without torch's generator.
Parameters make_parameters() {
  Parameters parameters{torch::arange(12, torch::kFloat64).view({3, 4}) / 7,
                        torch::ones({5}, torch::kFloat64)};
  for (torch::Tensor& parameter : parameters) parameter.requires_grad_();
  return parameters;
}

/// The gradient depends on the step, so that the history matters.
void step(torch::optim::Optimizer& optimizer, const Parameters& parameters, int number) {
  for (const torch::Tensor& parameter : parameters)
    parameter.mutable_grad() = torch::sin(parameter.detach() * (number + 1));
  optimizer.step();
}

template <typename Optimizer, typename Options>
Optimizer make(const Parameters& parameters, const Options& first, const Options& second) {
  return Optimizer(
      std::vector<OptimizerParamGroup>{{{parameters[0]}, std::make_unique<Options>(first)},
                                       {{parameters[1]}, std::make_unique<Options>(second)}},
      Options(first));
}

/// Rank 0 makes three steps, the others as many as their number with other options and other
/// weights. Afterwards all ranks make the same steps as a single optimizer.
template <typename Optimizer, typename Options>
void expect_all_go_on_like_rank_zero(const Options& first, const Options& second,
                                     const Options& of_others) {
  const Parameters alone = make_parameters();
  Optimizer expected = make<Optimizer>(alone, first, second);
  for (int number = 0; number < 6; ++number) step(expected, alone, number);

  for (int ranks : {1, 2, 4})
    run_threads(ranks, [&](Group group) {
      const bool leads = group.rank() == 0;
      const Parameters mine = make_parameters();
      Optimizer optimizer = leads ? make<Optimizer>(mine, first, second)
                                  : make<Optimizer>(mine, of_others, of_others);
      for (int number = 0; number < (leads ? 3 : group.rank() - 1); ++number)
        step(optimizer, mine, leads ? number : number + 10);
      torch::NoGradGuard no_grad;
      for (const torch::Tensor& parameter : mine)
        group.broadcast(ArrayView(parameter.data_ptr<double>(),
                                  static_cast<std::size_t>(parameter.numel()), DataType::float64));
      broadcast_state(group, optimizer);
      for (int number = 3; number < 6; ++number) step(optimizer, mine, number);
      for (std::size_t i = 0; i < mine.size(); ++i)
        EXPECT_TRUE(mine[i].equal(alone[i])) << "rank " << group.rank() << " of " << ranks;
    });
}

TEST(BroadcastState, OfSgdWithMomentum) {
  using Options = torch::optim::SGDOptions;
  expect_all_go_on_like_rank_zero<torch::optim::SGD>(Options(0.1).momentum(0.9).weight_decay(1e-3),
                                                     Options(0.2).momentum(0.8).nesterov(true),
                                                     Options(0.5).momentum(0.1));
}

TEST(BroadcastState, OfAdam) {
  using Options = torch::optim::AdamOptions;
  expect_all_go_on_like_rank_zero<torch::optim::Adam>(
      Options(0.1).betas({0.8, 0.9}), Options(0.2).amsgrad(true), Options(0.5).eps(0.1));
}

TEST(BroadcastState, OfAdamW) {
  using Options = torch::optim::AdamWOptions;
  expect_all_go_on_like_rank_zero<torch::optim::AdamW>(Options(0.1), Options(0.2).weight_decay(0.5),
                                                       Options(0.5).betas({0.1, 0.2}));
}

/// The other ranks lose their state.
TEST(BroadcastState, OfANewOptimizer) {
  run_threads(2, [](const Group& group) {
    const Parameters mine = make_parameters();
    torch::optim::Adam adam(mine, torch::optim::AdamOptions(0.1));
    if (group.rank() == 1) step(adam, mine, 0);
    broadcast_state(group, adam);
    EXPECT_TRUE(adam.state().empty());
  });
}

TEST(BroadcastState, OptimizersThatDifferAreRefusedOnAllRanks) {
  for (const std::string& error : errors_of_ranks(RankKind::thread, 3, [](const Group& group) {
         Parameters mine = make_parameters();
         if (group.rank() == 1) mine[1] = torch::ones({6}, torch::requires_grad());
         torch::optim::SGD sgd(mine, torch::optim::SGDOptions(0.1));
         broadcast_state(group, sgd);
       }))
    EXPECT_EQ(
        error,
        "the ranks' optimizers differ; the first difference: ranks 0 and 2 had parameter 1 of "
        "group 0: [5] Double; rank 1 had parameter 1 of group 0: [6] Float. Make the "
        "same optimizer for the same parameters on every rank");
  const auto errors = errors_of_ranks(RankKind::thread, 2, [](const Group& group) {
    const Parameters mine = make_parameters();
    torch::optim::SGD sgd(mine, torch::optim::SGDOptions(0.1));
    torch::optim::Adam adam(mine);
    broadcast_state(group, group.rank() == 0 ? static_cast<torch::optim::Optimizer&>(sgd) : adam);
  });
  EXPECT_EQ(errors[0], errors[1]);
  EXPECT_NE(errors[0].find("an optimizer of type"), std::string::npos) << errors[0];
}

TEST(BroadcastRandomState, AllRanksDrawTheSameNumbers) {
  testing::run_ranks(RankKind::process, 2, [](Group group) {
    torch::manual_seed(static_cast<std::uint64_t>(group.rank()));
    torch::rand({static_cast<std::int64_t>(group.rank()) + 3});
    broadcast_random_state(group);
    torch::Tensor drawn = torch::rand({4}, torch::kFloat64);
    torch::Tensor of_rank_zero = drawn.clone();
    group.broadcast(ArrayView(of_rank_zero.data_ptr<double>(), 4, DataType::float64));
    EXPECT_TRUE(drawn.equal(of_rank_zero));
  });
}

}  // namespace
}  // namespace lockstep::internal
