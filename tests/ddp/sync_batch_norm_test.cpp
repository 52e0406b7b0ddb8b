// Batch norm over the batches of several ranks equals torch's over all of them together.
#include <lockstep/ddp.h>
#include <lockstep/error.h>
#include <lockstep/sync_batch_norm.h>

#include "support/errors.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal {
namespace {

using torch::nn::BatchNorm2d;
using torch::nn::BatchNormOptions;

constexpr double kNormTolerance = 1e-12;  ///< in float64, summed in any order

/// Rank 2 has no sample.
const std::vector<std::int64_t> kShares{3, 1, 0, 4};
constexpr std::int64_t kNormSamples = 8;
constexpr std::int64_t kChannels = 5;

torch::Tensor share_of(const torch::Tensor& whole, const Group& group) {
  std::int64_t begin = 0;
  for (int rank = 0; rank < group.rank(); ++rank) begin += kShares[rank];
  return whole.narrow(0, begin, kShares[group.rank()]);
}

/// Inputs and output gradients, by step.
struct Steps {
  explicit Steps(std::vector<std::int64_t> map, torch::ScalarType type = torch::kFloat64) {
    torch::manual_seed(1);
    std::vector<std::int64_t> sizes{kNormSamples, kChannels};
    sizes.insert(sizes.end(), map.begin(), map.end());
    for (int step = 0; step < 3; ++step) {
      inputs.push_back((3 * torch::randn(sizes, torch::kFloat64) + step).to(type));
      gradients.push_back(torch::randn(sizes, torch::kFloat64).to(type));
    }
  }
  std::vector<torch::Tensor> inputs, gradients;
};

void expect_same_norm(const torch::Tensor& actual, const torch::Tensor& expected,
                      const std::string& what, double tolerance = kNormTolerance) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  if (expected.numel() == 0) return;
  const torch::Tensor wanted = expected.to(torch::kFloat64);
  EXPECT_LE((actual.to(torch::kFloat64) - wanted).norm().item<double>(),
            tolerance * wanted.norm().item<double>())
      << what;
}

struct Result {
  torch::Tensor output, input_gradient;
};
template <typename Layer>
Result run_step(Layer& layer, const torch::Tensor& input, const torch::Tensor& gradient) {
  const torch::Tensor leaf = input.detach().clone().requires_grad_();
  const torch::Tensor output = layer->forward(leaf);
  output.backward(gradient);
  return {output.detach(), leaf.grad()};
}

template <typename Layer>
void make_unusual(Layer& layer) {
  layer->to(torch::kFloat64);
  if (layer->running_mean.defined())
    layer->num_batches_tracked.set_data(layer->num_batches_tracked.to(torch::kInt64));
  if (!layer->weight.defined()) return;
  torch::NoGradGuard no_grad;
  layer->weight.copy_(torch::arange(1, kChannels + 1) / 3.0);
  layer->bias.copy_(torch::arange(kChannels) - 2.0);
}

/// The results of one process after all steps, and of each rank.
template <typename Reference>
void expect_equal_to_one(Reference alone, const BatchNormOptions& options, const Steps& steps) {
  make_unusual(alone);
  std::vector<Result> expected;
  for (std::size_t i = 0; i < steps.inputs.size(); ++i)
    expected.push_back(run_step(alone, steps.inputs[i], steps.gradients[i]));
  run_threads(4, [&](const Group& group) {
    SyncBatchNorm layer(options, group);
    make_unusual(layer);
    for (std::size_t i = 0; i < steps.inputs.size(); ++i) {
      const Result result =
          run_step(layer, share_of(steps.inputs[i], group), share_of(steps.gradients[i], group));
      expect_same_norm(result.output, share_of(expected[i].output, group), "output");
      expect_same_norm(result.input_gradient, share_of(expected[i].input_gradient, group), "input");
    }
    const auto buffers = alone->named_buffers();
    EXPECT_EQ(layer->named_buffers().size(), buffers.size());
    for (const auto& buffer : layer->named_buffers())
      expect_same_norm(buffer.value(), buffers[buffer.key()], buffer.key());
    const auto parameters = alone->named_parameters();
    EXPECT_EQ(layer->named_parameters().size(), parameters.size());
    for (const auto& parameter : layer->named_parameters()) {
      torch::Tensor sum = parameter->grad().clone();
      Group(group).all_reduce(ArrayView(sum.data_ptr<double>(),
                                        static_cast<std::size_t>(sum.numel()), DataType::float64));
      expect_same_norm(sum, parameters[parameter.key()].grad(), parameter.key());
    }
  });
}

TEST(SyncBatchNorm, EqualsTorchOnTheWholeBatchOfImages) {
  const BatchNormOptions options(kChannels);
  expect_equal_to_one(BatchNorm2d(options), options, Steps({6, 3}));
}

TEST(SyncBatchNorm, EqualsTorchForAnyNumberOfDimensions) {
  const BatchNormOptions options(kChannels);
  expect_equal_to_one(torch::nn::BatchNorm1d(options), options, Steps({}));
  expect_equal_to_one(torch::nn::BatchNorm1d(options), options, Steps({9}));
  expect_equal_to_one(torch::nn::BatchNorm3d(options), options, Steps({2, 3, 3}));
}

TEST(SyncBatchNorm, EqualsTorchWithEveryOption) {
  for (const BatchNormOptions& options : {BatchNormOptions(kChannels).eps(0.1).momentum(0.4),
                                          BatchNormOptions(kChannels).momentum(c10::nullopt),
                                          BatchNormOptions(kChannels).affine(false),
                                          BatchNormOptions(kChannels).track_running_stats(false)})
    expect_equal_to_one(BatchNorm2d(options), options, Steps({2, 2}));
}

TEST(SyncBatchNorm, RunningStatisticsAreTheSameBitsOnAllRanks) {
  const Steps steps({7, 7}, torch::kFloat32);
  std::vector<torch::Tensor> means(4), variances(4);
  run_threads(4, [&](const Group& group) {
    SyncBatchNorm layer(BatchNormOptions(kChannels), group);
    for (const torch::Tensor& input : steps.inputs) layer->forward(share_of(input, group));
    means[group.rank()] = layer->running_mean;
    variances[group.rank()] = layer->running_var;
  });
  for (int rank = 1; rank < 4; ++rank) {
    EXPECT_TRUE(means[rank].equal(means[0]));
    EXPECT_TRUE(variances[rank].equal(variances[0]));
  }
}

/// A mean of 10,000 and deviations of a few hundredths: the squares of such values leave no digits
/// for the variance in float32.
TEST(SyncBatchNorm, KeepsPrecisionWithALargeMeanInFloat32) {
  Steps steps({16, 16}, torch::kFloat32);
  const torch::Tensor input = (10000 + 0.01 * steps.inputs[0]).to(torch::kFloat32);
  const torch::Tensor gradient = steps.gradients[0];
  BatchNorm2d exact{BatchNormOptions(kChannels)};
  exact->to(torch::kFloat64);
  const Result expected = run_step(exact, input.to(torch::kFloat64), gradient.to(torch::kFloat64));
  run_threads(4, [&](const Group& group) {
    SyncBatchNorm layer(BatchNormOptions(kChannels), group);
    const Result result = run_step(layer, share_of(input, group), share_of(gradient, group));
    expect_same_norm(result.output, share_of(expected.output, group), "output", 1e-6);
    expect_same_norm(result.input_gradient, share_of(expected.input_gradient, group), "input",
                     1e-6);
  });
}

TEST(SyncBatchNorm, SupportsAnyMemoryFormat) {
  const Steps steps({4, 4});
  BatchNorm2d alone(kChannels);
  make_unusual(alone);
  const Result expected = run_step(alone, steps.inputs[0], steps.gradients[0]);
  run_threads(4, [&](const Group& group) {
    SyncBatchNorm layer(BatchNormOptions(kChannels), group);
    make_unusual(layer);
    const auto last = [&](const torch::Tensor& whole) {
      return share_of(whole, group).contiguous(torch::MemoryFormat::ChannelsLast);
    };
    const Result result = run_step(layer, last(steps.inputs[0]), last(steps.gradients[0]));
    expect_same_norm(result.output, share_of(expected.output, group), "output");
    expect_same_norm(result.input_gradient, share_of(expected.input_gradient, group), "input");
  });
}

TEST(SyncBatchNorm, SendsOneMessageForwardAndOneBackwardAndNoneToEvaluate) {
  const Steps steps({2, 2});
  run_threads(4, [&](const Group& group) {
    SyncBatchNorm layer(BatchNormOptions(kChannels), group);
    make_unusual(layer);
    const std::uint64_t before = group.counters().operations;
    run_step(layer, share_of(steps.inputs[0], group), share_of(steps.gradients[0], group));
    EXPECT_EQ(group.counters().operations, before + 2);
    layer->eval();
    BatchNorm2d alone(kChannels);
    make_unusual(alone);
    alone->running_mean.copy_(layer->running_mean);
    alone->running_var.copy_(layer->running_var);
    alone->eval();
    EXPECT_TRUE(layer->forward(steps.inputs[1]).equal(alone->forward(steps.inputs[1])));
    EXPECT_EQ(group.counters().operations, before + 2);
  });
}

TEST(SyncBatchNorm, WithoutAGroupEqualsTorchToTheBit) {
  const Steps steps({3, 3}, torch::kFloat32);
  SyncBatchNorm layer(kChannels);
  BatchNorm2d alone(kChannels);
  for (std::size_t i = 0; i < steps.inputs.size(); ++i) {
    const Result mine = run_step(layer, steps.inputs[i], steps.gradients[i]);
    const Result expected = run_step(alone, steps.inputs[i], steps.gradients[i]);
    EXPECT_TRUE(mine.output.equal(expected.output));
    EXPECT_TRUE(mine.input_gradient.equal(expected.input_gradient));
  }
  EXPECT_TRUE(layer->running_var.equal(alone->running_var));
  EXPECT_EQ(layer->num_batches_tracked.item<std::int64_t>(), 3);
  run_threads(1, [&](const Group& group) {  // a world of one sends nothing
    SyncBatchNorm one(BatchNormOptions(kChannels), group);
    EXPECT_TRUE(one->forward(steps.inputs[0]).equal(BatchNorm2d(kChannels)(steps.inputs[0])));
  });
}

TEST(SyncBatchNorm, ACloneNormalisesOverTheSameGroup) {
  const Steps steps({2, 2});
  run_threads(4, [&](const Group& group) {
    SyncBatchNorm layer(BatchNormOptions(kChannels), group);
    make_unusual(layer);
    SyncBatchNorm copy(std::dynamic_pointer_cast<SyncBatchNormImpl>(layer->clone()));
    ASSERT_NE(copy->weight.data_ptr(), layer->weight.data_ptr());
    const torch::Tensor mine = share_of(steps.inputs[0], group);
    EXPECT_TRUE(copy->forward(mine).equal(layer->forward(mine)));
  });
}

TEST(SyncBatchNorm, RefusesUnsupportedInputs) {
  run_threads(2, [](const Group& group) {
    SyncBatchNorm layer(BatchNormOptions(kChannels), group);
    testing::expect_error<UsageError>(
        [&] {
          layer->forward(torch::ones({2, 4, 3}));
        },
        {"5 channels expects inputs of [N, 5, …], got [2, 4, 3]"});
    testing::expect_error<UsageError>(
        [&] {
          layer->forward(torch::ones({2, kChannels}, torch::kFloat64));
        },
        {"of the type of its parameters", "Double"});
    // One value in all, on rank 0: all ranks report it.
    testing::expect_error<Error>(
        [&] {
          layer->forward(torch::ones({group.rank() == 0 ? 1 : 0, kChannels}));
        },
        {"more than one value per channel", "all 2 ranks together have 1"});
  });
}

TEST(SyncBatchNorm, RefusesDoubleBackward) {
  run_threads(2, [](const Group& group) {
    SyncBatchNorm layer(BatchNormOptions(kChannels), group);
    const torch::Tensor input = torch::rand({3, kChannels}).requires_grad_();
    const torch::Tensor output = layer->forward(input).square().sum();
    testing::expect_error<Error>(
        [&] { torch::autograd::grad({output}, {input}, {}, true, /*create_graph=*/true); },
        {"does not support double backward"});
  });
}

TEST(SyncBatchNorm, RanksThatRunDifferentLayersAllGetTheSameError) {
  const auto errors =
      testing::errors_of_ranks(testing::RankKind::thread, 2, [](const Group& group) {
        SyncBatchNorm layer(BatchNormOptions(kChannels + group.rank()), group);
        layer->forward(torch::rand({3, kChannels + group.rank()}));
      });
  EXPECT_THAT(errors, ::testing::Each(::testing::HasSubstr("rank 1 called all_gather")));
}

TEST(SyncBatchNorm, ARankThatIsLostBetweenForwardAndBackwardIsNamed) {
  const auto errors =
      testing::errors_of_ranks(testing::RankKind::thread, 3, [](const Group& group) {
        SyncBatchNorm layer(BatchNormOptions(kChannels), group);
        const torch::Tensor output = layer->forward(torch::rand({3, kChannels}));
        if (group.rank() == 1) throw Error("out of luck");
        output.square().sum().backward();
      });
  EXPECT_EQ(errors[1], "out of luck");
  for (int rank : {0, 2})
    EXPECT_THAT(errors[rank], ::testing::AllOf(::testing::HasSubstr("lost a peer in all_reduce"),
                                               ::testing::HasSubstr("rank 1")));
}

}  // namespace
}  // namespace lockstep::internal
