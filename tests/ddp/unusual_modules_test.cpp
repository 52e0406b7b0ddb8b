// Unusual modules: supported, or refused with the parameter's name.
#include <lockstep/compress.h>
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/branches.h"
#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

using testing::expect_error;
using testing::kSmallBuckets;

/// Two layers, of which a test may use one.
struct TwoLayers : torch::nn::Module {
  TwoLayers() {
    used = register_module("used", torch::nn::Linear(2, 1));
    unused = register_module("unused", torch::nn::Linear(2, 1));
  }
  torch::nn::Linear used = nullptr, unused = nullptr;
};

/// Two layers with one common weight.
struct Tied : torch::nn::Module {
  Tied() {
    weight = register_parameter("encoder", torch::ones(1000, torch::kFloat64));
    register_parameter("decoder", weight);
  }
  torch::Tensor weight;
};

TEST(Ddp, AveragesAWeightOfSeveralLayers) {
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

TEST(Ddp, DoesNotChangeFrozenParameters) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<TwoLayers>();
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

void expect_type_refused(const std::function<void(torch::nn::Module&)>& change,
                         const std::string& message) {
  run_threads(1, [&](const Group& group) {
    auto net = std::make_shared<TwoLayers>();
    change(*net);
    expect_error<UsageError>([&] { DistributedDataParallel ddp(net, group); }, {message});
  });
}

TEST(Ddp, RefusesTypesThatCannotBeAveragedByName) {
  expect_type_refused(
      [](auto& net) { net.to(torch::kComplexFloat); },
      "parameter 'used.weight' is of type ComplexFloat: only float32, float64, float16 "
      "and bfloat16 can be averaged");
}

/// Parameters of every type, some more than once.
struct Mixed : torch::nn::Module {
  Mixed() {
    int number = 0;
    for (torch::Dtype type : {torch::kBFloat16, torch::kFloat32, torch::kFloat64, torch::kFloat16,
                              torch::kFloat32, torch::kBFloat16})
      weights.push_back(
          register_parameter("w" + std::to_string(number++), torch::ones({3, 5}, type)));
  }
  torch::Tensor sum(double factor) const {
    torch::Tensor total = torch::zeros({}, torch::kFloat64);
    for (const torch::Tensor& weight : weights) total = total + weight.to(torch::kFloat64).sum();
    return total * factor;
  }
  std::vector<torch::Tensor> weights;
};

TEST(Ddp, AveragesParametersOfSeveralTypes) {
  for (const DdpOptions& options : {kSmallBuckets, DdpOptions{}})
    run_threads(3, [&](const Group& group) {
      auto net = std::make_shared<Mixed>();
      DistributedDataParallel ddp(net, group, options);
      for (bool set_to_none : {false, true, false}) {
        net->zero_grad(set_to_none);
        net->sum(group.rank() + 1).backward();
        for (const torch::Tensor& weight : net->weights) {
          EXPECT_EQ(weight.grad().scalar_type(), weight.scalar_type());
          EXPECT_TRUE(weight.grad().equal(torch::full_like(weight, 2)));
        }
      }
      expect_error<Error>([&] { net->weights[group.rank() == 0 ? 2 : 3].sum().backward(); },
                          {"rank 0 got no gradient for w0, w1, w3, w4 and w5"});
    });
}

TEST(Ddp, CompressionSupportsParametersOfSeveralTypes) {
  for (const char* hook : {"float16", "bfloat16", "topk:1"})
    run_threads(2, [&](const Group& group) {
      auto net = std::make_shared<Mixed>();
      DistributedDataParallel ddp(net, group, {.hook = compress::parse(hook)});
      for (int step = 0; step < 3; ++step) {
        net->zero_grad();
        net->sum(group.rank() + 1).backward();
        for (const torch::Tensor& weight : net->weights)
          EXPECT_TRUE(weight.grad().equal(torch::full_like(weight, 1.5))) << hook;
      }
    });
}

TEST(Ddp, GradientsHaveTheStridesOfTheirParameters) {
  run_threads(2, [](const Group& group) {
    torch::nn::Conv2d layer(torch::nn::Conv2dOptions(3, 4, 3));
    layer->weight.set_data(layer->weight.contiguous(torch::MemoryFormat::ChannelsLast));
    torch::nn::Linear linear(5, 7);
    linear->weight.set_data(torch::ones({5, 7}).t());
    torch::nn::ModuleList both(layer, linear);
    DistributedDataParallel ddp(both, group, kSmallBuckets);
    const torch::Tensor factors = torch::arange(4 * 3 * 3 * 3, torch::kFloat32).view({4, 3, 3, 3});
    const torch::Tensor others = torch::arange(35, torch::kFloat32).view({7, 5});
    for (bool set_to_none : {false, true, false}) {
      both->zero_grad(set_to_none);
      const auto scale = static_cast<float>(group.rank() + 1);
      ((layer->weight * factors).sum() * scale + layer->bias.sum() +
       (linear->weight * others).sum() * scale + linear->bias.sum())
          .backward();
      EXPECT_EQ(layer->weight.grad().strides(), layer->weight.strides());
      EXPECT_EQ(linear->weight.grad().strides(), linear->weight.strides());
      EXPECT_TRUE(layer->weight.grad().equal(factors * 1.5));
      EXPECT_TRUE(linear->weight.grad().equal(others * 1.5));
    }
  });
}

TEST(Ddp, NamesParametersWithDifferentStrides) {
  run_threads(2, [](const Group& group) {
    torch::nn::Linear layer(3, 4);
    if (group.rank() == 1) layer->weight.set_data(torch::ones({3, 4}).t());
    expect_error<MismatchError>([&] { DistributedDataParallel ddp(layer, group); },
                                {"with strides [1, 4]"});
  });
}

TEST(Ddp, AcceptsAnyModuleHolder) {
  run_threads(2, [](const Group& group) {
    torch::nn::Sequential net(torch::nn::Linear(2, 1), torch::nn::Tanh());
    DistributedDataParallel ddp(net, group);
    (net[0]->as<torch::nn::Linear>()->bias.sum() * (group.rank() + 1) +
     net->forward(torch::zeros({1, 2})).sum() * 0)
        .backward();
    EXPECT_EQ(net[0]->as<torch::nn::Linear>()->bias.grad().item<float>(), 1.5F);
    expect_error<UsageError>(
        [&] { DistributedDataParallel none(torch::nn::Sequential(nullptr), group); },
        {"DistributedDataParallel needs a module"});
  });
}

TEST(Ddp, NeedsAModule) {
  run_threads(1, [](const Group& group) {
    expect_error<UsageError>([&] { DistributedDataParallel ddp(nullptr, group); },
                             {"DistributedDataParallel needs a module"});
  });
}

}  // namespace
}  // namespace lockstep::internal
