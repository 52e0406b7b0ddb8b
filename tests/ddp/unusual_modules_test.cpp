// Modules that are not as the wrapper would like them: named, refused or coped with.
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::expect_error;

/// Every parameter has a bucket of its own.
const DdpOptions kSmallBuckets{.first_bucket_bytes = 1, .bucket_bytes = 1};

/// Two layers for the tests to use, or not to use, as they like.
struct Branches : torch::nn::Module {
  Branches() {
    used = register_module("used", torch::nn::Linear(2, 1));
    unused = register_module("unused", torch::nn::Linear(2, 1));
  }
  torch::nn::Linear used = nullptr, unused = nullptr;
};

/// Two layers that share one weight.
struct Tied : torch::nn::Module {
  Tied() {
    weight = register_parameter("encoder", torch::ones(1000, torch::kFloat64));
    register_parameter("decoder", weight);
  }
  torch::Tensor weight;
};

TEST(Ddp, AveragesAWeightThatLayersShare) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Tied>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (int step = 1; step <= 20; ++step) {
      net->zero_grad();
      (net->weight * (step * (group.rank() + 1))).sum().backward();
      EXPECT_TRUE(net->weight.grad().equal(torch::full(1000, 1.5 * step, torch::kFloat64)));
    }
  });
}

TEST(Ddp, LeavesFrozenParametersAlone) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    for (torch::Tensor parameter : net->unused->parameters()) parameter.set_requires_grad(false);
    net->unused->weight.fill_(group.rank() + 1);
    DistributedDataParallel ddp(net, group);
    EXPECT_TRUE(net->unused->weight.equal(torch::ones({1, 2}))) << "rank 0's, as all others";
    const torch::Tensor input = torch::ones({1, 2});
    (net->used(input) * (group.rank() + 1) + net->unused(input)).sum().backward();
    EXPECT_TRUE(net->used->weight.grad().equal(1.5 * input));
    EXPECT_FALSE(net->unused->weight.grad().defined());
  });
}

void expect_refused(const std::function<void(torch::nn::Module&)>& change,
                    const std::string& message) {
  run_threads(1, [&](const Group& group) {
    auto net = std::make_shared<Branches>();
    change(*net);
    expect_error<UsageError>([&] { DistributedDataParallel ddp(net, group); }, {message});
  });
}

TEST(Ddp, RefusesTypesThatCannotBeAveragedByName) {
  expect_refused([](auto& net) { net.to(torch::kFloat16); },
                 "parameter 'used.weight' is of type Half: only float32 and float64");
  expect_refused([](auto& net) { net.to(torch::kBFloat16); },
                 "parameter 'used.weight' is of type BFloat16: only float32 and float64");
  expect_refused(
      [](auto& net) { net.register_parameter("scale", torch::ones(1, torch::kFloat64)); },
      "parameter 'used.weight' is float32 while those before it are float64");
}

TEST(Ddp, NeedsAModule) {
  run_threads(1, [](const Group& group) {
    expect_error<UsageError>([&] { DistributedDataParallel ddp(nullptr, group); },
                             {"DistributedDataParallel needs a module"});
  });
}

}  // namespace
}  // namespace lockstep
