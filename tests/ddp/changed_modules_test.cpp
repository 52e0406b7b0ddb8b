// Changes of a module after it was wrapped: it keeps working, or all ranks throw the same error
// before an update can use gradients that were not averaged. docs/ddp.md has the table.
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/branches.h"
#include "support/errors.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <sstream>

namespace lockstep::internal {
namespace {

using testing::Branches;
using testing::expect_error;
using testing::gradients_are;
using testing::kAllowUnused;
using testing::kSmallBuckets;
using testing::RankKind;
using testing::run_ranks;

using Net = std::shared_ptr<Branches>;

std::string saved(const Net& net) {
  std::stringstream stream;
  torch::save(net, stream);
  return stream.str();
}

void load(Net& net, const std::string& file) {
  std::stringstream stream(file);
  torch::load(net, stream);
}

/// One backward whose averaged gradients are 1.5 on two ranks.
void expect_averages(Branches& net, const Group& group) {
  net.zero_grad();
  (net.sum() * (group.rank() + 1)).backward();
  EXPECT_TRUE(gradients_are(net.left, 1.5));
  EXPECT_TRUE(gradients_are(net.right, 1.5));
}

/// After `change`, on one rank or on all, every backward throws an error with `message` on all
/// ranks.
void expect_refused(const std::function<void(Branches&)>& change, std::string_view message,
                    const std::function<torch::Tensor(Branches&)>& loss = {}) {
  for (bool on_all : {true, false})
    for (const DdpOptions& options : {kSmallBuckets, kAllowUnused})
      run_ranks(RankKind::thread, 2, [&](const Group& group) {
        auto net = std::make_shared<Branches>();
        DistributedDataParallel ddp(net, group, options);
        expect_averages(*net, group);
        const bool here = on_all || group.rank() == 1;
        if (here) change(*net);
        for (int step = 0; step < 2; ++step)
          expect_error<Error>(
              [&] { (here && loss ? loss(*net) : net->sum()).backward(); },
              {on_all ? "rank 0 and 1" : "rank 1", message, "wrap the module again"});
      });
}

class ChangedModule : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, ChangedModule, ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(ChangedModule, LoadedFromAFileIsStillSynchronised) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    const std::string start = saved(net);
    for (int step = 0; step < 3; ++step) {
      load(net, start);
      expect_averages(*net, group);
      expect_averages(*net, group);
    }
    torch::optim::SGD sgd(net->parameters(), 0.1);
    const double before = net->left->bias.item<double>();
    sgd.step();
    EXPECT_DOUBLE_EQ(net->left->bias.item<double>(), before - 0.15) << "the optimizer's tensors";
  });
}

TEST_P(ChangedModule, LoadedBetweenForwardAndBackwardIsStillSynchronised) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    expect_averages(*net, group);
    const torch::Tensor left = net->left->bias.sum() + net->left->weight.sum();
    load(net, saved(net));
    net->zero_grad();
    ((left + net->right_sum()) * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, 1.5));
    EXPECT_TRUE(gradients_are(net->right, 1.5));
  });
}

TEST(ChangedModule, WithNewDataIsStillSynchronised) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (int step = 0; step < 3; ++step) {
      net->left->weight.set_data(torch::full({1, 2}, step, torch::kFloat64));
      net->to(torch::kFloat64);
      net->to(torch::kCPU);
      net->train(step == 1);
      expect_averages(*net, group);
    }
  });
}

TEST(ChangedModule, OfAnotherTypeOrShapeIsRefusedOnAllRanks) {
  expect_refused(
      [](Branches& net) { net.to(torch::kFloat32); },
      "parameter 'left.weight' is [1, 2] Float now and was [1, 2] Double",
      [](Branches& net) {
        return net.left(torch::ones({1, 2})).sum() + net.right(torch::ones({1, 2})).sum();
      });
  expect_refused(
      [](Branches& net) {
        net.right->weight.set_data(torch::ones({1, 3}, torch::kFloat64));
      },
      "parameter 'right.weight' is [1, 3] Double now and was [1, 2] Double",
      [](Branches& net) {
        return net.left_sum() + net.right(torch::ones({1, 3}, torch::kFloat64)).sum();
      });
}

TEST(ChangedModule, WithANewParameterOrBufferIsRefusedOnAllRanks) {
  expect_refused(
      [](Branches& net) { net.register_parameter("scale", torch::ones(1, torch::kFloat64)); },
      "parameter 'scale' was registered after the module was wrapped");
  expect_refused([](Branches& net) { net.register_buffer("seen", torch::ones(1)); },
                 "buffer 'seen' was registered after the module was wrapped");
}

TEST(ChangedModule, WithoutAParameterIsRefusedOnAllRanks) {
  expect_refused([](Branches& net) { net.unregister_module("right"); },
                 "parameter 'right.weight' was removed after the module was wrapped",
                 [](Branches& net) { return net.left_sum(); });
}

TEST(ChangedModule, WithAnotherLayerIsRefusedOnAllRanks) {
  expect_refused(
      [](Branches& net) {
        net.right = net.replace_module("right", torch::nn::Linear(2, 1));
        net.right->to(torch::kFloat64);
      },
      "parameter 'right.weight' was replaced by another tensor after the module was wrapped");
}

TEST(ChangedModule, WithOtherLayersOnlyIsRefusedWithoutHooks) {
  const auto replace = [](Branches& net) {
    net.left = net.replace_module("left", torch::nn::Linear(2, 1));
    net.right = net.replace_module("right", torch::nn::Linear(2, 1));
    net.to(torch::kFloat64);
  };
  expect_refused(replace, "parameter 'left.weight' was replaced by another tensor");
}

TEST(ChangedModule, AParameterThatIsUnfrozenLaterIsRefusedOnAllRanks) {
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

TEST_P(ChangedModule, AParameterMayBeFrozenAndUnfrozen) {
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

TEST(ChangedModule, AParameterFrozenOnOneRankOnlyIsReportedToAllRanks) {
  for (const DdpOptions& options : {kSmallBuckets, kAllowUnused})
    run_ranks(RankKind::thread, 2, [&](const Group& group) {
      auto net = std::make_shared<Branches>();
      DistributedDataParallel ddp(net, group, options);
      if (group.rank() == 1) net->right->bias.set_requires_grad(false);
      expect_error<Error>([&] { net->sum().backward(); },
                          {"rank 1 has frozen right.bias", "on every rank"});
      net->right->bias.set_requires_grad(true);
      expect_averages(*net, group);
    });
}

TEST(ChangedModule, ACopyIsNotSynchronisedAndDisturbsNothing) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    torch::nn::Linear layer(2, 1);
    DistributedDataParallel ddp(layer.ptr(), group, kSmallBuckets);
    const auto backward = [&](torch::nn::LinearImpl& net) {
      net.zero_grad();
      (net.forward(torch::ones({1, 2})).sum() * (group.rank() + 1)).backward();
    };
    const auto copy = std::dynamic_pointer_cast<torch::nn::LinearImpl>(layer->clone());
    backward(*copy);
    EXPECT_TRUE(testing::all_are(copy->bias.grad(), group.rank() + 1));
    backward(*layer);
    EXPECT_TRUE(testing::all_are(layer->bias.grad(), 1.5));
  });
}

TEST_P(ChangedModule, DifferentValuesAfterALoadAreReportedToAllRanks) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    auto other = std::make_shared<Branches>();
    load(other, saved(net));
    if (group.rank() == 1) other->right->weight.data().add_(1);
    load(net, saved(other));
    expect_error<Error>([&] { net->sum().backward(); },
                        {"parameter right.weight", "rank 0", "rank 1", "sync_parameters"});
    ddp.sync_parameters();
    expect_averages(*net, group);
  });
}

TEST(ChangedModule, RankZeroMayLoadAndBroadcast) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    if (group.rank() == 0) {
      auto other = std::make_shared<Branches>();
      other->left->weight.data().fill_(7);
      load(net, saved(other));
    }
    ddp.sync_parameters();
    EXPECT_TRUE(testing::all_are(net->left->weight, 7));
    expect_averages(*net, group);
  });
}

TEST(ChangedModule, ALayerAddedToASequenceIsRefused) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    torch::nn::Sequential net(torch::nn::Linear(2, 2));
    DistributedDataParallel ddp(net, group, kAllowUnused);
    net->push_back(torch::nn::Linear(2, 1));
    expect_error<Error>(
        [&] {
          net->forward(torch::ones({1, 2})).sum().backward();
        },
        {"rank 0 and 1 found that parameter '1.weight' was registered"});
  });
}

TEST(ChangedModule, AnUnregisteredTensorLeavesItsParameterWithoutGradient) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    net->left->weight = torch::ones({1, 2}, torch::kFloat64).requires_grad_(true);
    expect_error<Error>([&] { net->sum().backward(); },
                        {"rank 0 and 1 got no gradient for left.weight:"});
  });
}

TEST(ChangedModule, GradientsSetByTheUserAreKept) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    net->left->weight.mutable_grad() = torch::full({1, 2}, 10, torch::kFloat64);
    net->eval();
    (net->sum() * (group.rank() + 1)).backward();
    EXPECT_TRUE(testing::all_are(net->left->weight.grad(), 11.5));
    // autograd::grad gives this rank's gradients, and changes nothing.
    const auto own = torch::autograd::grad({net->sum() * (group.rank() + 1)}, {net->left->weight});
    EXPECT_TRUE(testing::all_are(own[0], group.rank() + 1));
    EXPECT_TRUE(testing::all_are(net->left->weight.grad(), 11.5));
  });
}

TEST(ChangedModule, TheWrapperDropsGradientsWithItself) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    {
      DistributedDataParallel ddp(net, group, kSmallBuckets);
      net->sum().backward();
    }
    EXPECT_FALSE(net->left->weight.grad().defined());
    net->sum().backward();
    EXPECT_TRUE(gradients_are(net->left, 1));
  });
}

TEST(ChangedModule, LoadedTwiceItKeepsTheHooksOfGraphsInBetween) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    expect_averages(*net, group);
    load(net, saved(net));
    const torch::Tensor between = net->left->bias.sum() + net->left->weight.sum();
    load(net, saved(net));
    net->zero_grad();
    ((between + net->right_sum()) * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, 1.5));
    EXPECT_TRUE(gradients_are(net->right, 1.5));
  });
}

TEST(ChangedModule, AFrozenPartLoadedOnOneRankIsReportedToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    for (torch::Tensor& parameter : net->left->parameters()) parameter.set_requires_grad(false);
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    if (group.rank() == 1) {
      auto other = std::make_shared<Branches>();
      torch::NoGradGuard no_grad;
      for (torch::Tensor& parameter : other->parameters()) parameter.fill_(7);
      load(net, saved(other));
    }
    expect_error<MismatchError>([&] { net->right_sum().backward(); }, {"parameters differ"});
  });
}

TEST(ChangedModule, FrozenAfterForwardOnOneRankIsReportedToAllRanks) {
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

TEST(ChangedModule, StridesLoadedOnOneRankDoNotMixGradients) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    torch::nn::Linear net(torch::nn::LinearOptions(3, 2).bias(false));
    net->to(torch::kFloat64);
    std::stringstream file;
    torch::save(net, file);
    net->weight.set_data(torch::ones({3, 2}, torch::kFloat64).t());
    DistributedDataParallel ddp(net, group);
    if (group.rank() == 0) torch::load(net, file);
    ddp.sync_parameters();
    const torch::Tensor factors = torch::arange(6, torch::kFloat64).view({2, 3});
    for (int step = 0; step < 3; ++step) {
      net->zero_grad();
      ((net->weight * factors).sum() * (group.rank() + 1)).backward();
      EXPECT_TRUE(net->weight.grad().equal(factors * 1.5)) << step;
    }
  });
}

TEST(ChangedModule, ParametersOfTwoWrappersAreRefused) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    auto first = std::make_unique<DistributedDataParallel>(net, group, kSmallBuckets);
    DistributedDataParallel second(net, group, kSmallBuckets);
    expect_error<Error>([&] { net->sum().backward(); }, {"belongs to two wrappers"});
    first.reset();
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
                        {"rank 1", "set requires_grad alike on every rank"});
    for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(true);
    expect_averages(*net, group);
  });
}

TEST(ChangedModule, AParameterFrozenOnOneRankAfterItsGradientWasKeptIsReportedToAllRanks) {
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

TEST(ChangedModule, AParameterFrozenOnOneRankWhileGradientsAreKeptIsReportedToAllRanks) {
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

TEST(ChangedModule, AModuleFrozenOnOneRankDuringABackwardOfAnotherIsReportedToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto judge = std::make_shared<Branches>();
    DistributedDataParallel ddp(judge, group, kSmallBuckets);
    expect_averages(*judge, group);
    const torch::Tensor picture = torch::ones({1, 2}, torch::kFloat64).requires_grad_(true);
    const auto backward = [&] { judge->left(picture).sum().backward(); };
    // On rank 1 this backward does not reach the module, so its next one corresponds to rank 0's.
    if (group.rank() == 1) {
      for (torch::Tensor& parameter : judge->parameters()) parameter.set_requires_grad(false);
      backward();
      for (torch::Tensor& parameter : judge->parameters()) parameter.set_requires_grad(true);
    }
    expect_error<Error>([&] { judge->sum().backward(); },
                        {"frozen or unfrozen differently on rank 1 than on rank 0"});
  });
}

TEST(ChangedModule, FrozenOnOneRankAfterForwardIsReportedToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    expect_averages(*net, group);
    const torch::Tensor sum = net->sum();
    if (group.rank() == 1)
      for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(false);
    expect_error<Error>([&] { sum.backward(); }, {"rank 1 has frozen left.weight"});
    for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(true);
    expect_averages(*net, group);
  });
}

TEST(ChangedModule, LoadedTwiceOnOneRankIsComparedInTheSameMemory) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    torch::nn::Linear layer(200, 200);
    DistributedDataParallel ddp(layer, group, kSmallBuckets);
    const auto backward = [&] {
      layer->zero_grad();
      layer->forward(torch::ones({1, 200})).sum().backward();
    };
    backward();
    if (group.rank() == 1) {
      for (int time = 0; time < 2; ++time) {
        torch::nn::Linear other(200, 200);
        std::stringstream file;
        torch::save(other, file);
        torch::load(layer, file);
      }
    }
    expect_error<Error>(backward, {"parameter weight", "rank 0", "rank 1", "sync_parameters"});
  });
}

TEST(ChangedModule, TransposedOnOneRankIsCompared) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    torch::nn::Linear layer(2, 2);
    DistributedDataParallel ddp(layer, group, kSmallBuckets);
    const auto backward = [&] { layer->forward(torch::ones({1, 2})).sum().backward(); };
    backward();
    if (group.rank() == 1) layer->weight.set_data(layer->weight.data().t());
    expect_error<Error>(backward, {"parameter weight", "rank 0", "rank 1", "sync_parameters"});
  });
}

TEST(ChangedModule, ABufferOfAnotherTypeOrShapeIsRefusedOnAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    net->register_buffer("seen", torch::ones({2, 3}));
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    expect_averages(*net, group);
    if (group.rank() == 1)
      net->named_buffers()["seen"].set_data(torch::ones({3, 2}, torch::kInt32));
    expect_error<Error>([&] { net->sum().backward(); },
                        {"rank 1 found that buffer 'seen' is [3, 2] Int now and was [2, 3] Float"});
  });
}

TEST(ChangedModule, SyncParametersRefusesModulesThatDiffer) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    net->to(torch::kFloat16);
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    if (group.rank() == 1) net->to(torch::kBFloat16);
    expect_error<MismatchError>([&] { ddp.sync_parameters(); },
                                {"left.weight", "Half", "BFloat16"});
  });
}

TEST(ChangedModule, AGraphThatIsOlderThanALoadAndTheWrapperIsSynchronised) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    const torch::Tensor older = net->left->bias.sum() + net->left->weight.sum();
    load(net, saved(net));
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    ((older + net->right_sum()) * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, 1.5));
    EXPECT_TRUE(gradients_are(net->right, 1.5));
  });
}

}  // namespace
}  // namespace lockstep::internal
