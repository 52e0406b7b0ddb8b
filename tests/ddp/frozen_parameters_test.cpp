// Parameters that are frozen or unfrozen after the module was wrapped, on all ranks or on one.
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/branches.h"
#include "support/errors.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <functional>

namespace lockstep::internal {
namespace {

using testing::Branches;
using testing::expect_averages;
using testing::expect_error;
using testing::gradients_are;
using testing::kAllowUnused;
using testing::kSmallBuckets;
using testing::RankKind;
using testing::run_ranks;

class FrozenParameters : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, FrozenParameters,
                         ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST(FrozenParameters, AParameterThatIsUnfrozenLaterIsRefusedOnAllRanks) {
  for (bool all_frozen : {false, true})
    run_ranks(RankKind::thread, 2, [&](const Group& group) {
      auto net = std::make_shared<Branches>();
      for (torch::Tensor& parameter : net->parameters())
        if (all_frozen || parameter.is_same(net->right->bias)) parameter.set_requires_grad(false);
      DistributedDataParallel ddp(net, group);
      net->right->bias.set_requires_grad(true);
      expect_error<Error>([&] { net->sum().backward(); },
                          {"parameter 'right.bias' is trained now but was frozen"});
    });
}

TEST_P(FrozenParameters, AParameterMayBeFrozenAndUnfrozen) {
  run_ranks(GetParam(), 2, [](Group group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (int round = 0; round < 2; ++round) {
      expect_averages(*net, group);
      for (torch::Tensor& parameter : net->right->parameters()) parameter.set_requires_grad(false);
      for (int step = 0; step < 4; ++step) {
        net->zero_grad(step >= 2);
        const auto before = ddp.group().counters().operations;
        (net->sum() * (group.rank() + 1)).backward();
        EXPECT_TRUE(gradients_are(net->left, 1.5));
        if (step < 2)
          EXPECT_TRUE(gradients_are(net->right, 0));
        else
          EXPECT_FALSE(net->right->weight.grad().defined());
        if (round == 1 && step % 2 == 1) {
          EXPECT_EQ(ddp.group().counters().operations - before, 4u) << "known, so it costs nothing";
        }
      }
      for (torch::Tensor& parameter : net->right->parameters()) parameter.set_requires_grad(true);
    }
    expect_averages(*net, group);
  });
}

TEST(FrozenParameters, AParameterFrozenOnOneRankOnlyIsReportedToAllRanks) {
  for (const DdpOptions& options : {kSmallBuckets, kAllowUnused})
    run_ranks(RankKind::thread, 2, [&](const Group& group) {
      auto net = std::make_shared<Branches>();
      DistributedDataParallel ddp(net, group, options);
      if (group.rank() == 1) net->right->bias.set_requires_grad(false);
      expect_error<Error>([&] { net->sum().backward(); },
                          {"rank 1 froze right.bias", "on every rank"});
      net->right->bias.set_requires_grad(true);
      expect_averages(*net, group);
    });
}

TEST(FrozenParameters, AParameterFrozenOnOneRankAfterForwardIsReportedToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    expect_averages(*net, group);
    for (bool set_to_none : {false, true}) {
      net->zero_grad(set_to_none);
      const torch::Tensor loss = net->sum();
      if (group.rank() == 1) net->left->weight.set_requires_grad(false);
      expect_error<Error>([&] { loss.backward(); }, {"left.weight", "rank 1"});
      net->left->weight.set_requires_grad(true);
    }
    expect_averages(*net, group);
  });
}

TEST(FrozenParameters, AModuleFrozenOnOneRankAfterForwardIsReportedToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    expect_averages(*net, group);
    const torch::Tensor sum = net->sum();
    if (group.rank() == 1)
      for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(false);
    expect_error<Error>([&] { sum.backward(); }, {"rank 1 froze left.weight"});
    for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(true);
    expect_averages(*net, group);
  });
}

/// Ranks whose parameters were frozen differently for some steps throw the same error afterwards.
void expect_other_freezing_named(
    const DdpOptions& options,
    const std::function<void(DistributedDataParallel&, Branches&, bool freezes)>& step) {
  run_ranks(RankKind::thread, 2, [&](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, options);
    expect_averages(*net, group);
    net->zero_grad();
    expect_error<Error>([&] { step(ddp, *net, group.rank() == 1); },
                        {"rank 1", "set the same requires_grad on every rank"});
    for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(true);
    expect_averages(*net, group);
  });
}

TEST(FrozenParameters, AParameterFrozenOnOneRankAfterItsGradientWasKeptIsReportedToAllRanks) {
  for (const DdpOptions& options : {kSmallBuckets, kAllowUnused})
    expect_other_freezing_named(options,
                                [](DistributedDataParallel& ddp, Branches& net, bool freezes) {
                                  {
                                    const auto guard = ddp.no_sync();
                                    net.sum().backward();
                                  }
                                  if (freezes) net.left->weight.set_requires_grad(false);
                                  net.sum().backward();
                                });
}

TEST(FrozenParameters, AParameterFrozenOnOneRankWhileGradientsAreKeptIsReportedToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    expect_averages(*net, group);
    if (group.rank() == 1) net->left->weight.set_requires_grad(false);
    {
      const auto guard = ddp.no_sync();
      net->sum().backward();
    }
    net->left->weight.set_requires_grad(true);
    expect_error<Error>([&] { net->sum().backward(); },
                        {"frozen or unfrozen differently on rank 1 than on rank 0"});
    expect_averages(*net, group);
  });
}

TEST(FrozenParameters, AModuleFrozenOnOneRankDuringABackwardOfAnotherIsReportedToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto observed = std::make_shared<Branches>();
    DistributedDataParallel ddp(observed, group, kSmallBuckets);
    expect_averages(*observed, group);
    const torch::Tensor picture = torch::ones({1, 2}, torch::kFloat64).requires_grad_(true);
    const auto backward = [&] { observed->left(picture).sum().backward(); };
    // On rank 1 this backward does not reach the module, so its next one corresponds to rank 0's.
    if (group.rank() == 1) {
      for (torch::Tensor& parameter : observed->parameters()) parameter.set_requires_grad(false);
      backward();
      for (torch::Tensor& parameter : observed->parameters()) parameter.set_requires_grad(true);
    }
    expect_error<Error>([&] { observed->sum().backward(); },
                        {"frozen or unfrozen differently on rank 1 than on rank 0"});
  });
}

}  // namespace
}  // namespace lockstep::internal
