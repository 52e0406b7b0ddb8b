// torch::load into a wrapped module: gradients are still averaged, or all ranks throw the same
// error.
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
using testing::expect_averages;
using testing::expect_error;
using testing::gradients_are;
using testing::kSmallBuckets;
using testing::RankKind;
using testing::run_ranks;

using BranchesPtr = std::shared_ptr<Branches>;

std::string saved(const BranchesPtr& net) {
  std::stringstream stream;
  torch::save(net, stream);
  return stream.str();
}

void load(BranchesPtr& net, const std::string& file) {
  std::stringstream stream(file);
  torch::load(net, stream);
}

class LoadedModule : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, LoadedModule, ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(LoadedModule, LoadedFromAFileIsStillSynchronised) {
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
    EXPECT_NEAR(net->left->bias.item<double>(), before - 0.15, 1e-12) << "the optimizer's tensors";
  });
}

TEST_P(LoadedModule, LoadedBetweenForwardAndBackwardIsStillSynchronised) {
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

TEST_P(LoadedModule, DifferentValuesAfterALoadAreReportedToAllRanks) {
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

TEST(LoadedModule, RankZeroMayLoadAndBroadcast) {
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

TEST(LoadedModule, LoadedTwiceItKeepsTheHooksOfGraphsInBetween) {
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

TEST(LoadedModule, AFrozenPartLoadedOnOneRankIsReportedToAllRanks) {
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

TEST(LoadedModule, StridesLoadedOnOneRankDoNotMixGradients) {
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

TEST(LoadedModule, LoadedTwiceOnOneRankIsComparedInTheSameMemory) {
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

TEST(LoadedModule, AGraphThatIsOlderThanALoadAndTheWrapperIsSynchronised) {
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
