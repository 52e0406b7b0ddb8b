// Changes of a module after it was wrapped: it keeps working, or all ranks throw the same error
// before an update can use gradients that were not averaged. docs/ddp.md has the table.
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

/// After `change`, on one rank or on all, every backward throws an error with `message` on all
/// ranks.
void expect_change_refused(const std::function<void(Branches&)>& change, std::string_view message,
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
              {on_all ? "ranks 0 and 1" : "rank 1", message, "wrap the module again"});
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
  expect_change_refused(
      [](Branches& net) { net.to(torch::kFloat32); },
      "parameter 'left.weight' is [1, 2] Float now and was [1, 2] Double",
      [](Branches& net) {
        return net.left(torch::ones({1, 2})).sum() + net.right(torch::ones({1, 2})).sum();
      });
  expect_change_refused(
      [](Branches& net) {
        net.right->weight.set_data(torch::ones({1, 3}, torch::kFloat64));
      },
      "parameter 'right.weight' is [1, 3] Double now and was [1, 2] Double",
      [](Branches& net) {
        return net.left_sum() + net.right(torch::ones({1, 3}, torch::kFloat64)).sum();
      });
}

TEST(ChangedModule, WithANewParameterOrBufferIsRefusedOnAllRanks) {
  expect_change_refused(
      [](Branches& net) { net.register_parameter("scale", torch::ones(1, torch::kFloat64)); },
      "parameter 'scale' was registered after the module was wrapped");
  expect_change_refused([](Branches& net) { net.register_buffer("seen", torch::ones(1)); },
                        "buffer 'seen' was registered after the module was wrapped");
}

TEST(ChangedModule, WithoutAParameterIsRefusedOnAllRanks) {
  expect_change_refused([](Branches& net) { net.unregister_module("right"); },
                        "parameter 'right.weight' was removed after the module was wrapped",
                        [](Branches& net) { return net.left_sum(); });
}

TEST(ChangedModule, WithAnotherLayerIsRefusedOnAllRanks) {
  expect_change_refused(
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
  expect_change_refused(replace, "parameter 'left.weight' was replaced by another tensor");
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

TEST(ChangedModule, ALayerAddedToASequenceIsRefused) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    torch::nn::Sequential net(torch::nn::Linear(2, 2));
    DistributedDataParallel ddp(net, group, kAllowUnused);
    net->push_back(torch::nn::Linear(2, 1));
    expect_error<Error>(
        [&] {
          net->forward(torch::ones({1, 2})).sum().backward();
        },
        {"ranks 0 and 1 found that parameter '1.weight' was registered"});
  });
}

TEST(ChangedModule, AnUnregisteredTensorLeavesItsParameterWithoutGradient) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    net->left->weight = torch::ones({1, 2}, torch::kFloat64).requires_grad_(true);
    expect_error<Error>([&] { net->sum().backward(); },
                        {"ranks 0 and 1 got no gradient for left.weight:"});
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

}  // namespace
}  // namespace lockstep::internal
