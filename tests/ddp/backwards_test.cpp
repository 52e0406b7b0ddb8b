// Backwards of every kind: not synchronised, several before a step, through several modules, with a
// hook, or in another order.
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
using testing::kSmallBuckets;
using testing::RankKind;
using testing::run_ranks;

class Backwards : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, Backwards, ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Backwards, UnderNoSyncAddUpUntilTheNextOneAveragesTheSum) {
  run_ranks(GetParam(), 3, [](Group group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (bool set_to_none : {false, true, false}) {
      net->zero_grad(set_to_none);
      {
        const auto guard = ddp.no_sync();
        const auto before = ddp.group().counters().operations;
        for (int micro_batch = 1; micro_batch <= 2; ++micro_batch) {
          (net->sum() * (group.rank() + 1)).backward();
          EXPECT_TRUE(gradients_are(net->left, micro_batch * (group.rank() + 1)));
        }
        EXPECT_EQ(ddp.group().counters().operations, before);
      }
      (net->sum() * (group.rank() + 1)).backward();
      EXPECT_TRUE(gradients_are(net->left, 3 * 2));
      EXPECT_TRUE(gradients_are(net->right, 3 * 2));
    }
  });
}

TEST(Backward, NoSyncMayBeNestedAndOutliveItsWrapper) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    auto ddp = std::make_unique<DistributedDataParallel>(net, group);
    const auto outer = ddp->no_sync();
    { const auto inner = ddp->no_sync(); }
    (net->sum() * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, group.rank() + 1));
    ddp.reset();
  });
}

TEST(Backward, ALayerUsedUnderNoSyncOnlyIsAveragedToo) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (bool set_to_none : {false, true}) {
      net->zero_grad(set_to_none);
      {
        const auto guard = ddp.no_sync();
        (net->left_sum() * (group.rank() + 1)).backward();
      }
      (net->right_sum() * (group.rank() + 1)).backward();
      EXPECT_TRUE(gradients_are(net->left, 1.5));
      EXPECT_TRUE(gradients_are(net->right, 1.5));
    }
  });
}

TEST(Backward, TwoLossesThroughOneGraphAddUp) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    auto norm = net->register_module("norm", torch::nn::BatchNorm1d(1));
    net->to(torch::kFloat64);
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    const torch::Tensor shared = net->sum();
    const torch::Tensor normed = norm->forward(torch::ones({4, 1}, torch::kFloat64)).sum();
    for (int step = 0; step < 2; ++step)  // buffers that a retained graph uses may be broadcast
      (shared * (group.rank() + 1) + normed).backward({}, true);
    EXPECT_TRUE(gradients_are(net->left, 3));
    (shared * (group.rank() + 5) + normed).backward();
    EXPECT_TRUE(gradients_are(net->left, 3 + 5.5));
  });
}

TEST(Backward, GradientsWithAGraphOfTheirOwnAreRefusedByName) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group);
    expect_error<Error>(
        [&] { net->sum().square().backward({}, true, group.rank() == 0); },
        {"rank 0 got a gradient that is part of a graph for", "right.weight", "create_graph"});
    net->zero_grad();
    // Gradient penalty: the graph of the gradients ends in an ordinary backward.
    const torch::Tensor loss = net->sum() * net->left->bias.sum() * (group.rank() + 1);
    const auto gradient = torch::autograd::grad({loss}, {net->right->bias}, {}, true, true)[0];
    (gradient.sum() + net->sum()).backward();
    EXPECT_TRUE(testing::all_are(net->left->bias.grad(), 1 + 1.5));
  });
}

TEST(Backward, OfSeveralModulesAtOnceOrInTurn) {
  run_threads(3, [](const Group& group) {
    auto one = std::make_shared<Branches>();
    auto two = std::make_shared<Branches>();
    DistributedDataParallel first(one, group, kSmallBuckets);
    DistributedDataParallel second(two, group);
    for (int step = 1; step <= 3; ++step) {
      one->zero_grad();
      two->zero_grad();
      ((one->sum() + two->sum() * 2) * (group.rank() + 1)).backward();
      EXPECT_TRUE(gradients_are(one->left, 2));
      EXPECT_TRUE(gradients_are(two->right, 4));
      (one->sum() * group.rank()).backward();
      EXPECT_TRUE(gradients_are(one->right, 3));
      EXPECT_TRUE(gradients_are(two->left, 4));
    }
  });
}

/// Layers that are used in the order of their names' last letters, not in that of construction.
struct Scrambled : torch::nn::Module {
  Scrambled() {
    for (const char* name : {"c", "a", "d", "b"})
      layers.push_back(register_module(name, torch::nn::Linear(8, 8)));
    to(torch::kFloat64);
  }
  torch::Tensor forward(torch::Tensor x) {
    for (int layer : {1, 3, 0, 2}) x = torch::tanh(layers[layer](x));
    return x.square().mean();
  }
  std::vector<torch::nn::Linear> layers;
};

std::shared_ptr<Scrambled> seeded(std::uint64_t seed) {
  torch::manual_seed(seed);
  return std::make_shared<Scrambled>();
}

/// Four steps of Adam on this rank's slice of 12 samples.
void train(Scrambled& net, int rank, int ranks) {
  torch::optim::Adam adam(net.parameters(), torch::optim::AdamOptions(0.01));
  const std::int64_t share = 12 / ranks;
  for (int step = 1; step <= 4; ++step) {
    const torch::Tensor batch = torch::arange(12 * 8, torch::kFloat64).view({12, 8}).sin() * step;
    adam.zero_grad();
    net.forward(batch.narrow(0, rank * share, share)).backward();
    adam.step();
  }
}

TEST_P(Backwards, InAnUnexpectedOrderReorderGradientsOnce) {
  const auto alone = seeded(1);
  train(*alone, 0, 1);
  std::vector<std::shared_ptr<Scrambled>> nets{seeded(1), seeded(2), seeded(3)};
  run_ranks(GetParam(), 3, [&](const Group& group) {
    auto& net = nets[group.rank()];
    DistributedDataParallel ddp(net, group, {.first_bucket_bytes = 600, .bucket_bytes = 1200});
    train(*net, group.rank(), group.size());
    // The last layer used, d, is ready first; next to it is the one used before it, c.
    const auto at = [&](int layer) {
      return static_cast<const char*>(net->layers[layer]->weight.grad().data_ptr());
    };
    EXPECT_LT(at(2), at(0));
    EXPECT_LT(at(0), at(3));
    EXPECT_LT(at(3), at(1));
    for (std::size_t i = 0; i < 4; ++i) {
      const double error =
          (net->layers[i]->weight - alone->layers[i]->weight).abs().max().item<double>();
      EXPECT_LE(error, 1e-12) << "layer " << i;
    }
  });
}

TEST(Backward, GradientsHeldBeforeTheReorderAreUnchanged) {
  std::vector<std::shared_ptr<Scrambled>> nets{seeded(1), seeded(2)};
  run_threads(2, [&](const Group& group) {
    auto& net = nets[group.rank()];
    torch::Tensor held;
    {
      for (torch::Tensor& parameter : net->parameters())
        parameter.mutable_grad() = torch::zeros_like(parameter);
      DistributedDataParallel ddp(net, group);
      held = net->layers[2]->weight.grad();
      net->forward(torch::ones({3, 8}, torch::kFloat64)).backward();
      EXPECT_TRUE(held.equal(net->layers[2]->weight.grad()));
      net->zero_grad();
      EXPECT_GT(held.abs().sum().item<double>(), 0);
    }
    EXPECT_GT(held.abs().sum().item<double>(), 0) << "its memory is still there";
  });
}

TEST(Backward, AUsersHookCompressesGradients) {
  // Rounded to bfloat16's 8 bits before and after the sum: off by less than 2^-7 of the largest
  // value.
  const BucketHook compress = [](Group& group, const GradientBucket& bucket) {
    const std::span<double> values(static_cast<double*>(bucket.gradients.data),
                                   bucket.gradients.count);
    auto half = std::make_shared<std::vector<BFloat16>>();
    for (double value : values) half->emplace_back(static_cast<float>(value));
    return group.all_reduce_async(*half, ReduceOp::average).then([half, values] {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((*half)[i]);
    });
  };
  std::vector<std::shared_ptr<Scrambled>> nets{seeded(1), seeded(2), seeded(3)};
  const auto alone = seeded(1);
  const torch::Tensor batch = torch::arange(96, torch::kFloat64).view({12, 8}).sin();
  alone->forward(batch).backward();
  run_threads(3, [&](const Group& group) {
    auto& net = nets[group.rank()];
    DistributedDataParallel ddp(
        net, group, {.first_bucket_bytes = 600, .bucket_bytes = 1200, .hook = compress});
    for (int step = 0; step < 2; ++step) {
      net->zero_grad();
      net->forward(batch.narrow(0, group.rank() * 4, 4)).backward();
      for (int layer = 0; layer < 4; ++layer) {
        const torch::Tensor exact = alone->layers[layer]->weight.grad();
        const torch::Tensor error = net->layers[layer]->weight.grad() - exact;
        EXPECT_GT(error.abs().max().item<double>(), 0) << "nothing was rounded";
        EXPECT_LT(error.abs().max().item<double>(), exact.abs().max().item<double>() / 64);
      }
    }
  });
}

TEST_P(Backwards, BuffersFollowRankZero) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    for (bool every_time : {true, false}) {
      auto norm = std::make_shared<torch::nn::BatchNorm1dImpl>(
          torch::nn::BatchNorm1dOptions(1).momentum(1.0));
      DistributedDataParallel ddp(norm, group, {.broadcast_buffers = every_time});
      for (int step = 1; step <= 3; ++step) {
        norm->forward(torch::full({2, 1}, 10.0 * step + group.rank())).sum().backward();
        EXPECT_EQ(norm->running_mean.item<float>(),
                  static_cast<float>(10 * step + (every_time ? 0 : group.rank())));
        EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), step);
      }
      ddp.sync_buffers();
      EXPECT_EQ(norm->running_mean.item<float>(), 30);
    }
  });
}

TEST(Backward, SparseGradientsAreRefusedByNameOnAllRanks) {
  for (bool set_to_none : {false, true})
    run_threads(2, [&](const Group& group) {
      auto net = std::make_shared<Branches>();
      // Only rank 1's layer gives sparse gradients.
      auto table = net->register_module(
          "table",
          torch::nn::Embedding(torch::nn::EmbeddingOptions(5, 2).sparse(group.rank() == 1)));
      net->to(torch::kFloat64);
      DistributedDataParallel ddp(net, group, kSmallBuckets);
      net->zero_grad(set_to_none);
      expect_error<Error>(
          [&] {
            (net->sum() + table->forward(torch::tensor({1, 3})).sum()).backward();
          },
          {"rank 1 got a sparse gradient for table.weight: only dense gradients can be averaged"});
      net->zero_grad(set_to_none);
      {  // Under no_sync the next synchronised backward reports it.
        const auto guard = ddp.no_sync();
        (net->sum() + table->forward(torch::tensor({1, 3})).sum()).backward();
      }
      expect_error<Error>([&] { (net->sum() + table->weight.sum()).backward(); },
                          {"rank 1 got a sparse gradient for table.weight"});
      net->zero_grad(set_to_none);
      (net->sum() + table->weight.sum()).backward();
      EXPECT_TRUE(testing::all_are(table->weight.grad(), 1));
    });
}

TEST(Backward, InAGroupOfOneNothingIsHooked) {
  run_threads(1, [](Group group) {
    auto net = std::make_shared<Branches>();
    const auto before = group.counters().operations;
    DistributedDataParallel ddp(net, group, {.hook = [](Group&, const GradientBucket&) -> Work {
                                  throw std::runtime_error("never called");
                                }});
    const auto operations = group.counters().operations;
    EXPECT_FALSE(net->left->weight.grad().defined());
    net->left_sum().backward();
    ddp.backward_without_batch();
    const auto guard = ddp.no_sync();
    EXPECT_TRUE(gradients_are(net->left, 1));
    EXPECT_FALSE(net->right->weight.grad().defined());
    EXPECT_EQ(group.counters().operations, operations);
    EXPECT_LE(operations - before, 1u);
  });
}

}  // namespace
}  // namespace lockstep::internal
