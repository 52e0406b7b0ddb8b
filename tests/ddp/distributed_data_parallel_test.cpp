// After every backward the gradients equal those of one process with the whole batch.
#include <lockstep/ddp.h>

#include "ddp/branches.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

/// Tolerance in float64, summed in any order.
constexpr double kTolerance = 1e-12;

struct Net : torch::nn::Module {
  Net() {
    convolution = register_module("convolution", torch::nn::Conv2d(1, 4, 3));
    layers = register_module(
        "layers", torch::nn::Sequential(torch::nn::Linear(4 * 6 * 6, 8), torch::nn::Tanh(),
                                        torch::nn::Linear(8, 3)));
  }
  torch::Tensor forward(const torch::Tensor& images) {
    return layers->forward(torch::tanh(convolution(images)).flatten(1));
  }
  torch::nn::Conv2d convolution = nullptr;
  torch::nn::Sequential layers = nullptr;
};

std::shared_ptr<Net> make_net(std::uint64_t seed) {
  torch::manual_seed(seed);
  auto net = std::make_shared<Net>();
  net->to(torch::kFloat64);
  return net;
}

/// One model per rank, with different weights. Made here because torch has one generator per
/// process.
std::vector<std::shared_ptr<Net>> make_nets(int ranks) {
  std::vector<std::shared_ptr<Net>> nets;
  for (int rank = 0; rank < ranks; ++rank) nets.push_back(make_net(100 + rank));
  return nets;
}

struct Batch {
  torch::Tensor images;
  torch::Tensor labels;

  Batch slice(int rank, int ranks) const {
    const std::int64_t count = labels.size(0) / ranks;
    return {images.narrow(0, rank * count, count), labels.narrow(0, rank * count, count)};
  }
  Batch slice(const Group& group) const { return slice(group.rank(), group.size()); }
};

/// 12 samples: equal slices for 1, 2, 3 and 4 ranks.
Batch whole_batch(std::uint64_t seed) {
  torch::manual_seed(seed);
  return {torch::randn({12, 1, 8, 8}, torch::kFloat64), torch::randint(3, {12}, torch::kInt64)};
}

torch::Tensor loss_of(Net& net, const Batch& batch) {
  return torch::nn::functional::cross_entropy(net.forward(batch.images), batch.labels);
}

void expect_close(const torch::Tensor& actual, const torch::Tensor& expected,
                  const std::string& what) {
  ASSERT_TRUE(actual.defined()) << what;
  EXPECT_LE((actual - expected).norm().item<double>(), kTolerance * expected.norm().item<double>())
      << what;
}

void expect_same_gradients(const Net& actual, const Net& expected) {
  const auto wanted = expected.named_parameters();
  for (const auto& parameter : actual.named_parameters())
    expect_close(parameter->grad(), wanted[parameter.key()].grad(), parameter.key());
}

void expect_same_weights(const Net& actual, const Net& expected) {
  const auto wanted = expected.named_parameters();
  for (const auto& parameter : actual.named_parameters())
    expect_close(parameter.value(), wanted[parameter.key()], parameter.key());
}

torch::optim::SGD make_sgd(const Net& net) {
  return torch::optim::SGD(net.parameters(),
                           torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-3));
}

class DdpWorlds : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, DdpWorlds, ::testing::Values(1, 2, 3, 4));

TEST_P(DdpWorlds, GradientsEqualThoseOfOneProcess) {
  const auto nets = make_nets(GetParam());
  const Batch batch = whole_batch(1);
  const auto alone = make_net(100);
  loss_of(*alone, batch).backward();
  for (const DdpOptions& options : {DdpOptions{}, testing::kSmallBuckets})
    run_threads(GetParam(), [&](const Group& group) {
      const auto& net = nets[group.rank()];
      DistributedDataParallel ddp(net, group, options);
      net->zero_grad();
      loss_of(*net, batch.slice(group)).backward();
      expect_same_gradients(*net, *alone);
    });
}

TEST_P(DdpWorlds, StepsWithMomentumEqualThoseOfOneProcess) {
  const auto alone = make_net(100);
  torch::optim::SGD alone_sgd = make_sgd(*alone);
  const Batch batches[] = {whole_batch(1), whole_batch(2), whole_batch(3)};
  for (const Batch& batch : batches) {
    alone_sgd.zero_grad();
    loss_of(*alone, batch).backward();
    alone_sgd.step();
  }
  for (bool set_to_none : {false, true}) {
    const auto nets = make_nets(GetParam());
    run_threads(GetParam(), [&](const Group& group) {
      const auto& net = nets[group.rank()];
      DistributedDataParallel ddp(net, group, testing::kSmallBuckets);
      torch::optim::SGD sgd = make_sgd(*net);
      for (const Batch& batch : batches) {
        net->zero_grad(set_to_none);
        loss_of(*net, batch.slice(group)).backward();
        sgd.step();
      }
      expect_same_weights(*net, *alone);
    });
  }
}

TEST_P(DdpWorlds, EveryAlgorithmGivesTheSameGradients) {
  const auto nets = make_nets(GetParam());
  const Batch batch = whole_batch(1);
  const auto alone = make_net(100);
  loss_of(*alone, batch).backward();
  for (Algorithm algorithm : {Algorithm::star, Algorithm::ring, Algorithm::direct})
    run_threads(GetParam(), [&](const Group& group) {
      const auto& net = nets[group.rank()];
      DistributedDataParallel ddp(net, group, {.algorithm = algorithm});
      net->zero_grad();
      loss_of(*net, batch.slice(group)).backward();
      expect_same_gradients(*net, *alone);
    });
}

TEST(Ddp, CopiesTheWeightsOfRankZeroToAllRanks) {
  const auto nets = make_nets(3);
  const auto first = make_net(100);
  ASSERT_FALSE(nets[1]->parameters()[0].equal(first->parameters()[0]));
  run_threads(3, [&](const Group& group) {
    DistributedDataParallel ddp(nets[group.rank()], group);
    const auto expected = first->named_parameters();
    for (const auto& parameter : nets[group.rank()]->named_parameters())
      EXPECT_TRUE(parameter->equal(expected[parameter.key()])) << parameter.key();
  });
}

TEST(Ddp, CopiesTheBuffersOfRankZeroToAllRanks) {
  run_threads(3, [](const Group& group) {
    auto norm = std::make_shared<torch::nn::BatchNorm1dImpl>(4);
    norm->running_mean.fill_(group.rank() + 1);
    norm->num_batches_tracked.fill_(group.rank() + 7);
    DistributedDataParallel ddp(norm, group);
    EXPECT_TRUE(norm->running_mean.equal(torch::ones(4)));
    EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), 7);
  });
}

TEST(Ddp, CopiesWeightsOfAnyMemoryFormat) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<torch::nn::Module>();
    const torch::Tensor plain = torch::arange(24, torch::kFloat32).view({2, 3, 2, 2});
    net->register_parameter(
        "w", (plain * (group.rank() + 1)).contiguous(torch::MemoryFormat::ChannelsLast));
    DistributedDataParallel ddp(net, group);
    EXPECT_TRUE(net->parameters()[0].equal(plain));
    (net->parameters()[0] * plain * (group.rank() + 1)).sum().backward();
    EXPECT_TRUE(net->parameters()[0].grad().equal(plain * 1.5));
  });
}

TEST(Ddp, GradientsKeepTheirMemoryAfterTheFirstBackward) {
  const auto nets = make_nets(2);
  const Batch batch = whole_batch(1);
  run_threads(2, [&](const Group& group) {
    const auto& net = nets[group.rank()];
    DistributedDataParallel ddp(net, group);
    loss_of(*net, batch.slice(group)).backward();
    std::vector<void*> places;
    for (const auto& parameter : net->parameters()) places.push_back(parameter.grad().data_ptr());
    for (bool set_to_none : {false, true, false}) {
      net->zero_grad(set_to_none);
      loss_of(*net, batch.slice(group)).backward();
      std::vector<void*> now;
      for (const auto& parameter : net->parameters()) now.push_back(parameter.grad().data_ptr());
      EXPECT_EQ(now, places);
    }
  });
}

TEST(Ddp, GradientsOfSeveralBackwardsAddUp) {
  const auto nets = make_nets(2);
  const Batch batches[] = {whole_batch(1), whole_batch(2)};
  const auto alone = make_net(100);
  for (const Batch& batch : batches) loss_of(*alone, batch).backward();
  run_threads(2, [&](const Group& group) {
    const auto& net = nets[group.rank()];
    DistributedDataParallel ddp(net, group);
    for (const Batch& batch : batches) loss_of(*net, batch.slice(group)).backward();
    expect_same_gradients(*net, *alone);
  });
}

TEST(Ddp, AModuleOutlivesItsWrapperAndTrainsAlone) {
  const auto nets = make_nets(2);
  const Batch batch = whole_batch(1);
  run_threads(2, [&](const Group& group) {
    const auto& net = nets[group.rank()];
    {
      DistributedDataParallel ddp(net, group);
      loss_of(*net, batch.slice(group)).backward();
    }
    for (const auto& parameter : net->parameters()) EXPECT_FALSE(parameter.grad().defined());
    loss_of(*net, batch.slice(group)).backward();
  });
  // The ranks' own gradients now, with the weights of rank 0.
  for (int rank = 0; rank < 2; ++rank) {
    const auto alone = make_net(100);
    loss_of(*alone, batch.slice(rank, 2)).backward();
    expect_same_gradients(*nets[rank], *alone);
  }
}

TEST(Ddp, AModuleMayBeWrappedAgain) {
  const auto net = make_net(1);
  const auto alone = make_net(1);
  const Batch batch = whole_batch(1);
  loss_of(*alone, batch).backward();
  run_threads(1, [&](const Group& group) {
    { DistributedDataParallel first(net, group); }
    DistributedDataParallel second(net, group);
    loss_of(*net, batch).backward();
    expect_same_gradients(*net, *alone);
  });
}

}  // namespace
}  // namespace lockstep::internal
