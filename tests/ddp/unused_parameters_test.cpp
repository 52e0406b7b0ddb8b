// Parameters outside the loss: on some ranks, on all, or in some steps.
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/branches.h"
#include "support/errors.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

using testing::Branches;
using testing::expect_error;
using testing::gradients_are;
using testing::kAllowUnused;
using testing::NoGradient;
using testing::RankKind;
using testing::run_ranks;

class Unused : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, Unused, ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Unused, AreReportedToEveryRank) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group);
    for (int step = 1; step <= 2; ++step) {
      net->zero_grad(step == 2);
      expect_error<Error>(
          [&] { (group.rank() == 1 ? net->left_sum() : net->sum()).backward(); },
          {"backward ended, but rank 1 got no gradient for right.weight and right.bias: every "
           "parameter must take part in the loss on every rank, unless DdpOptions::allow_unused is "
           "set"});
      net->zero_grad(step == 2);
      (net->sum() * (group.rank() + 1)).backward();
      EXPECT_TRUE(gradients_are(net->left, 2));
      EXPECT_TRUE(gradients_are(net->right, 2));
    }
  });
}

TEST_P(Unused, OnSomeRanksCountAsZerosIfAllowed) {
  run_ranks(GetParam(), 4, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kAllowUnused);
    for (bool set_to_none : {false, true, false, true, true}) {
      net->zero_grad(set_to_none);
      (group.rank() == 3 ? net->sum() * 8 : net->left_sum()).backward();
      EXPECT_TRUE(gradients_are(net->left, (3 + 8) / 4.0));
      EXPECT_TRUE(gradients_are(net->right, 2));
    }
  });
}

TEST_P(Unused, OnAllRanksKeepTheirGradients) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kAllowUnused);
    net->zero_grad(true);
    net->left_sum().backward();
    EXPECT_TRUE(gradients_are(net->left, 1));
    EXPECT_FALSE(net->right->weight.grad().defined());
    net->right->weight.mutable_grad() = torch::full({1, 2}, 0.1, torch::kFloat64);
    net->left_sum().backward();
    EXPECT_TRUE(gradients_are(net->left, 2));
    EXPECT_TRUE(testing::all_are(net->right->weight.grad(), 0.1));
    EXPECT_FALSE(net->right->bias.grad().defined());
    net->sum().backward();
    EXPECT_TRUE(gradients_are(net->left, 3));
    EXPECT_TRUE(testing::all_are(net->right->bias.grad(), 1));
  });
}

TEST_P(Unused, OnAllRanksAreNotDecayedByAnOptimizer) {
  std::vector<std::shared_ptr<Branches>> nets(3);
  for (auto& net : nets) net = std::make_shared<Branches>();
  const auto train = [](Branches& net) {
    torch::optim::AdamW adam(net.parameters(), torch::optim::AdamWOptions(0.1).weight_decay(0.5));
    for (int step = 0; step < 3; ++step) {
      adam.zero_grad();
      net.left_sum().backward();
      adam.step();
    }
  };
  Branches& alone = *nets[2];
  {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < alone.parameters().size(); ++i)
      alone.parameters()[i].copy_(nets[0]->parameters()[i]);
  }
  train(alone);
  run_ranks(GetParam(), 2, [&](const Group& group) {
    Branches& net = *nets[group.rank()];
    DistributedDataParallel ddp(nets[group.rank()], group, kAllowUnused);
    train(net);
    for (std::size_t i = 0; i < alone.parameters().size(); ++i)
      EXPECT_TRUE(net.parameters()[i].equal(alone.parameters()[i])) << "as in one process";
    EXPECT_FALSE(net.right->weight.grad().defined());
  });
}

TEST(Unused, ARankWithoutABatchTakesPart) {
  run_ranks(RankKind::thread, 3, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kAllowUnused);
    for (int step = 0; step < 6; ++step) {
      net->zero_grad(step % 2 == 0);
      // Each rank in turn; rank 0 in the first step.
      if (step % 3 == group.rank())
        ddp.backward_without_batch();
      else
        (net->sum() * 3).backward();
      EXPECT_TRUE(gradients_are(net->left, 2));
      EXPECT_TRUE(gradients_are(net->right, 2));
    }
  });
}

TEST(Unused, WithoutABatchRequiresAllowUnused) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group);
    expect_error<Error>(
        [&] {
          if (group.rank() == 0)
            ddp.backward_without_batch();
          else
            net->sum().backward();
        },
        {"rank 0 got no gradient for left.weight, left.bias, right.weight and right.bias"});
  });
}

TEST(Unused, AFunctionThatReturnsNoGradientCountsAsNone) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group);
    expect_error<Error>(
        [&] {
          (net->left_sum() + net->right->bias.sum() + NoGradient::apply(net->right->weight).sum())
              .backward();
        },
        {"ranks 0 and 1 got no gradient for right.weight:"});
  });
}

/// If only some ranks have an older gradient of an unused parameter, all have the same afterwards.
void expect_same_unused(const std::function<void(Branches& net, int rank)>& prepare, double left) {
  run_ranks(RankKind::thread, 2, [&](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kAllowUnused);
    for (int step = 0; step < 2; ++step) {
      net->sum().backward();
      net->zero_grad(false);
      prepare(*net, group.rank());
      net->left_sum().backward();
      EXPECT_TRUE(gradients_are(net->left, 1));
      EXPECT_TRUE(gradients_are(net->right, left));
    }
  });
}

TEST(Unused, WithAGradientOnSomeRanksHaveTheSameOnAll) {
  // zero_grad(true) on one rank only: optimizers decay parameters whose gradient is zero, and skip
  // those without one.
  expect_same_unused([](Branches& net, int rank) { net.zero_grad(rank == 1); }, 0);
  // Set by hand on one rank only.
  expect_same_unused(
      [](Branches& net, int rank) {
        net.zero_grad(true);
        if (rank == 1)
          for (torch::Tensor& parameter : net.right->parameters())
            parameter.mutable_grad() = torch::full_like(parameter, 4).detach();
      },
      2);
}

TEST(Unused, FrozenWithAGradientOnSomeRanksHaveTheSameOnAll) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kAllowUnused);
    net->sum().backward();
    for (torch::Tensor& parameter : net->right->parameters()) parameter.set_requires_grad(false);
    for (bool drop : {false, true, false, true, true}) {
      net->zero_grad(drop && group.rank() == 1);
      net->left_sum().backward();
      EXPECT_TRUE(gradients_are(net->left, 1));
      EXPECT_TRUE(gradients_are(net->right, 0));
    }
  });
}

}  // namespace
}  // namespace lockstep::internal
