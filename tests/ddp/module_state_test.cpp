// The ranks' modules are compared before they are copied, and copied in few messages.
#include "ddp/module_state.h"

#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "support/errors.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

namespace lockstep::internal::ddp {
namespace {

using testing::errors_of_ranks;
using testing::RankKind;

using Make = std::function<std::shared_ptr<torch::nn::Module>(int rank)>;

/// Wraps make(rank) on three ranks and expects the same error, with all parts, on all of them.
void expect_wrapping_refused(const Make& make, const std::vector<std::string>& parts) {
  const auto errors = errors_of_ranks(RankKind::thread, 3, [&](const Group& group) {
    DistributedDataParallel ddp(make(group.rank()), group);
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error, errors[0]);
    for (const std::string& part : parts)
      EXPECT_NE(error.find(part), std::string::npos) << error << "\nlacks: " << part;
  }
}

std::shared_ptr<torch::nn::Module> linear(int outputs) {
  return std::make_shared<torch::nn::LinearImpl>(4, outputs);
}

TEST(ModuleState, DifferencesAreReportedToEveryRank) {
  expect_wrapping_refused(
      [](int rank) { return linear(rank == 1 ? 7 : 3); },
      {"the ranks wrap different modules; the first difference: ranks 0 and 2 had parameter "
       "weight [3, 4] Float cpu dense, trained; rank 1 had parameter weight [7, 4] "
       "Float cpu dense, trained. Construct the module"});
  expect_wrapping_refused(
      [](int rank) {
        auto net = linear(3);
        if (rank == 2) net->parameters()[1].set_requires_grad(false);
        return net;
      },
      {"ranks 0 and 1 had parameter bias [3] Float cpu dense, trained; rank 2 had "
       "parameter bias [3] Float cpu dense."});
  expect_wrapping_refused(
      [](int rank) {
        auto net = linear(3);
        if (rank == 0) net->to(torch::kFloat64);
        return net;
      },
      {"rank 0 had parameter weight [3, 4] Double"});
  expect_wrapping_refused(
      [](int rank) {
        auto net = linear(3);
        if (rank == 0) net->register_buffer("mean", torch::zeros(2));
        return net;
      },
      {"rank 0 had buffer mean [2] Float", "ranks 1 and 2 had nothing more"});
}

TEST(ModuleState, OptionsAreComparedToo) {
  const auto errors = errors_of_ranks(RankKind::thread, 2, [&](const Group& group) {
    DistributedDataParallel ddp(linear(3), group, {.allow_unused = group.rank() == 1});
  });
  EXPECT_EQ(errors[0], errors[1]);
  EXPECT_NE(errors[0].find("allow_unused true"), std::string::npos) << errors[0];
}

TEST(ModuleState, OtherDevicesAreReportedToEveryRank) {
  const auto meta = [](const char* name) {
    auto net = linear(3);
    net->register_parameter(name, torch::empty({5}, torch::device(torch::kMeta)));
    return net;
  };
  expect_wrapping_refused(
      [&](int) { return meta("elsewhere"); },
      {"parameter 'elsewhere' is not a dense tensor in main memory but dense on device "
       "meta"});
  expect_wrapping_refused([&](int rank) { return rank == 1 ? meta("elsewhere") : linear(3); },
                          {"rank 1 had parameter elsewhere [5] Float meta"});
}

TEST(ModuleState, SparseTensorsAreReportedToEveryRank) {
  expect_wrapping_refused(
      [](int) {
        auto net = linear(3);
        net->register_buffer("table", torch::eye(3).to_sparse());
        return net;
      },
      {"buffer 'table' is not a dense tensor in main memory but not dense"});
}

TEST(ModuleState, IsCopiedInFewMessages) {
  run_threads(3, [](Group group) {
    std::vector<torch::Tensor> tensors;
    for (int i = 0; i < 100; ++i)
      tensors.push_back(torch::full({i}, 1000 * group.rank() + i, torch::kFloat64));
    tensors.push_back(torch::full({3, 5}, group.rank() == 0, torch::kBool));
    tensors.push_back(torch::full({2, 3}, group.rank() + 7, torch::kInt64).t());
    tensors.push_back(torch::full({2 << 20}, group.rank() + 1, torch::kFloat32));
    const auto before = group.counters().operations;
    broadcast_tensors(group, tensors);
    EXPECT_EQ(group.counters().operations - before, 2u);
    for (int i = 0; i < 100; ++i)
      EXPECT_TRUE(tensors[i].equal(torch::full({i}, i, torch::kFloat64)));
    EXPECT_TRUE(tensors[100].all().item<bool>());
    EXPECT_TRUE(tensors[101].equal(torch::full({3, 2}, 7, torch::kInt64)));
    EXPECT_TRUE(tensors[102].equal(torch::ones(2 << 20)));
  });
}

TEST(ModuleState, WithoutBuffersOrParametersIsFine) {
  run_threads(2, [](const Group& group) {
    auto empty = std::make_shared<torch::nn::Module>();
    DistributedDataParallel nothing(empty, group);
    nothing.sync_buffers();
    auto norm = std::make_shared<torch::nn::BatchNorm1dImpl>(
        torch::nn::BatchNorm1dOptions(4).track_running_stats(false));
    DistributedDataParallel ddp(norm, group);
    norm->forward(torch::ones({2, 4})).sum().backward();
    EXPECT_TRUE(norm->bias.grad().equal(torch::full(4, 2.0)));
  });
}

}  // namespace
}  // namespace lockstep::internal::ddp
