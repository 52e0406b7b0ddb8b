// Ranks with different numbers of batches train like one process with all of them, and none waits
// forever.
#include <lockstep/error.h>
#include <lockstep/join.h>
#include <lockstep/sync_batch_norm.h>

#include "support/errors.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lockstep::internal {
namespace {

constexpr double kJoinTolerance = 1e-11;      ///< in float64, summed in any order, over a few steps
constexpr std::int64_t kSamplesPerBatch = 4;  ///< per batch

torch::nn::Sequential make_sequential(bool normalised) {
  torch::manual_seed(5);
  torch::nn::Sequential net(torch::nn::Linear(3, 6));
  if (normalised) net->push_back(torch::nn::BatchNorm1d(6));
  net->push_back(torch::nn::Tanh());
  net->push_back(torch::nn::Linear(6, 2));
  for (torch::Tensor& parameter : net->parameters())
    parameter.set_data(parameter.to(torch::kFloat64));
  for (torch::Tensor& buffer : net->buffers())
    if (buffer.is_floating_point()) buffer.set_data(buffer.to(torch::kFloat64));
  return net;
}

torch::optim::SGD sgd_for(const torch::nn::Sequential& net) {
  return torch::optim::SGD(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
}

/// The batch of a rank in a step; the same on every call.
torch::Tensor batch_of(int rank, int step, std::int64_t samples = kSamplesPerBatch) {
  const torch::Tensor numbers = torch::arange(samples * 3, torch::kFloat64).view({samples, 3});
  return torch::sin(numbers * 1.7 + rank * 2.3 + step * 5.1);
}

torch::Tensor sequential_loss(torch::nn::Sequential& net, const torch::Tensor& batch) {
  return (net->forward(batch) - batch.narrow(1, 0, 2)).square().mean();
}

void expect_equal_sums(const torch::Tensor& actual, const torch::Tensor& expected,
                       const std::string& what) {
  const torch::Tensor wanted = expected.to(torch::kFloat64);  // a count is an integer
  EXPECT_LE((actual.to(torch::kFloat64) - wanted).norm().item<double>(),
            kJoinTolerance * (1 + wanted.norm().item<double>()))
      << what;
}

void expect_same_state(const torch::nn::Sequential& actual, const torch::nn::Sequential& expected,
                       const Group& group) {
  const std::string who = " of rank " + std::to_string(group.rank());
  const auto parameters = expected->named_parameters();
  for (const auto& item : actual->named_parameters())
    expect_equal_sums(item.value(), parameters[item.key()], item.key() + who);
  const auto buffers = expected->named_buffers();
  for (const auto& item : actual->named_buffers())
    expect_equal_sums(item.value(), buffers[item.key()], item.key() + who);
}

/// One process with all batches of every step.
torch::nn::Sequential train_alone(const std::vector<int>& batches, bool normalised,
                                  double ranks_to_divide_by = 0) {
  torch::nn::Sequential net = make_sequential(normalised);
  torch::optim::SGD sgd = sgd_for(net);
  for (int step = 0; step < *std::max_element(batches.begin(), batches.end()); ++step) {
    std::vector<torch::Tensor> all;
    for (std::size_t rank = 0; rank < batches.size(); ++rank)
      if (step < batches[rank]) all.push_back(batch_of(static_cast<int>(rank), step));
    const double share =
        ranks_to_divide_by > 0 ? static_cast<double>(all.size()) / ranks_to_divide_by : 1;
    sgd.zero_grad();
    (sequential_loss(net, torch::cat(all)) * share).backward();
    sgd.step();
  }
  return net;
}

/// Numbers of batches by rank; some ranks have none, also the first.
const std::vector<std::vector<int>> kUneven{{3},       {2, 5},    {5, 2},       {0, 3},
                                            {3, 0, 1}, {0, 4, 0}, {1, 2, 3, 4}, {2, 2, 2, 2}};

TEST(Join, RanksWithoutBatchesGetTheSameUpdates) {
  for (const std::vector<int>& batches : kUneven) {
    const torch::nn::Sequential alone = train_alone(batches, false);
    std::vector<torch::nn::Sequential> nets;
    for (std::size_t i = 0; i < batches.size(); ++i) nets.push_back(make_sequential(false));
    run_threads(static_cast<int>(batches.size()), [&](const Group& group) {
      const int mine = batches[group.rank()];
      auto& net = nets[group.rank()];
      DistributedDataParallel ddp(net.ptr(), group);
      torch::optim::SGD sgd = sgd_for(net);
      Join join(ddp);
      int steps = 0;
      for (; join.next(steps < mine); ++steps) {
        EXPECT_EQ(join.has_batch(), steps < mine);
        EXPECT_EQ(join.factor(), steps < mine ? 1 : 0);
        sgd.zero_grad();
        if (join.has_batch())
          sequential_loss(net, batch_of(group.rank(), steps)).backward();
        else
          ddp.backward_without_batch();
        sgd.step();
      }
      EXPECT_EQ(steps, *std::max_element(batches.begin(), batches.end()));
      EXPECT_FALSE(join.next(0)) << "again, and no harm is done";
      expect_same_state(net, alone, group);
    });
  }
}

/// After the Join, the wrapper works as before.
TEST(Join, MayDivideByAllRanksAndEnds) {
  const std::vector<int> batches{1, 3, 2};
  const torch::nn::Sequential alone = train_alone(batches, false, 3);
  const torch::nn::Sequential equal = train_alone({1, 1, 1}, false);
  std::vector<torch::nn::Sequential> nets;
  for (int i = 0; i < 6; ++i) nets.push_back(make_sequential(false));
  run_threads(3, [&](const Group& group) {
    auto& net = nets[group.rank()];
    DistributedDataParallel ddp(net.ptr(), group);
    torch::optim::SGD sgd = sgd_for(net);
    {
      Join join(ddp, {.divide_by_all = true});
      for (int step = 0; join.next(step < batches[group.rank()]); ++step) {
        sgd.zero_grad();
        join.has_batch() ? sequential_loss(net, batch_of(group.rank(), step)).backward()
                         : ddp.backward_without_batch();
        sgd.step();
      }
      expect_same_state(net, alone, group);
      testing::expect_error<UsageError>([&] { Join second(ddp); }, {"use one at a time"});
    }
    auto& other = nets[3 + group.rank()];
    DistributedDataParallel fresh(other.ptr(), group);
    {
      Join join(fresh);
      EXPECT_TRUE(join.next(group.rank() == 2));
    }
    torch::optim::SGD its = sgd_for(other);
    its.zero_grad();
    sequential_loss(other, batch_of(group.rank(), 0)).backward();
    its.step();
    expect_same_state(other, equal, group);
  });
}

/// The mean over all samples, for any number on each rank.
TEST(Join, BatchesMayDifferInSize) {
  const std::vector<std::vector<std::int64_t>> samples{{4, 1, 2}, {3}, {}};  // by rank and step
  torch::nn::Sequential alone = make_sequential(false);
  torch::optim::SGD alone_sgd = sgd_for(alone);
  for (std::size_t step = 0; step < 3; ++step) {
    std::vector<torch::Tensor> all;
    for (std::size_t rank = 0; rank < samples.size(); ++rank)
      if (step < samples[rank].size())
        all.push_back(
            batch_of(static_cast<int>(rank), static_cast<int>(step), samples[rank][step]));
    alone_sgd.zero_grad();
    sequential_loss(alone, torch::cat(all)).backward();
    alone_sgd.step();
  }
  std::vector<torch::nn::Sequential> nets{make_sequential(false), make_sequential(false),
                                          make_sequential(false)};
  run_threads(3, [&](const Group& group) {
    auto& net = nets[group.rank()];
    const auto& mine = samples[group.rank()];
    DistributedDataParallel ddp(net.ptr(), group);
    torch::optim::SGD sgd = sgd_for(net);
    Join join(ddp);
    for (std::size_t step = 0; join.next(step < mine.size() ? mine[step] : 0); ++step) {
      sgd.zero_grad();
      if (join.has_batch()) {
        const auto batch = batch_of(group.rank(), static_cast<int>(step), mine[step]);
        (sequential_loss(net, batch) * join.factor()).backward();
      } else {
        ddp.backward_without_batch();
      }
      sgd.step();
    }
    expect_same_state(net, alone, group);
  });
}

/// A rank without a batch passes an empty one through the model: its layers' messages then report
/// no sample.
TEST(Join, BatchNormCoversTheRanksWithABatch) {
  for (const std::vector<int>& batches : kUneven) {
    const torch::nn::Sequential alone = train_alone(batches, true);
    std::vector<torch::nn::Sequential> nets;
    for (std::size_t i = 0; i < batches.size(); ++i) nets.push_back(make_sequential(true));
    run_threads(static_cast<int>(batches.size()), [&](const Group& group) {
      auto& net = nets[group.rank()];
      convert_sync_batch_norm(*net, group);
      DistributedDataParallel ddp(net.ptr(), group);
      torch::optim::SGD sgd = sgd_for(net);
      Join join(ddp);
      for (int step = 0; join.next(step < batches[group.rank()]); ++step) {
        sgd.zero_grad();
        if (join.has_batch())
          sequential_loss(net, batch_of(group.rank(), step)).backward();
        else
          net->forward(torch::empty({0, 3}, torch::kFloat64)).sum().backward();
        sgd.step();
      }
      expect_same_state(net, alone, group);
    });
  }
}

/// With batch norm on each rank alone, the buffers are those of a rank with a batch.
TEST(Join, BuffersComeFromTheFirstRankWithABatch) {
  std::vector<torch::nn::Sequential> nets{make_sequential(true), make_sequential(true),
                                          make_sequential(true)};
  torch::nn::Sequential alone = make_sequential(true);
  alone->forward(batch_of(1, 0));
  run_threads(3, [&](const Group& group) {
    auto& net = nets[group.rank()];
    DistributedDataParallel ddp(net.ptr(), group);
    Join join(ddp);
    EXPECT_TRUE(join.next(group.rank() > 0));
    join.has_batch() ? sequential_loss(net, batch_of(group.rank(), 0)).backward()
                     : ddp.backward_without_batch();
    const auto buffers = alone->named_buffers();
    for (const auto& item : net->named_buffers())
      expect_equal_sums(item.value(), buffers[item.key()], item.key());
  });
}

/// Several backwards may add up: older gradients are not averaged with a rank without a batch.
TEST(Join, GradientsAddUp) {
  torch::nn::Sequential alone = make_sequential(false);
  sequential_loss(alone, torch::cat({batch_of(0, 0), batch_of(1, 0)})).backward();
  sequential_loss(alone, batch_of(1, 1)).backward();
  for (bool allow_unused : {false, true}) {
    std::vector<torch::nn::Sequential> nets{make_sequential(false), make_sequential(false)};
    run_threads(2, [&](const Group& group) {
      auto& net = nets[group.rank()];
      DistributedDataParallel ddp(net.ptr(), group, {.allow_unused = allow_unused});
      Join join(ddp);
      for (int step = 0; join.next(step <= group.rank()); ++step)
        join.has_batch() ? sequential_loss(net, batch_of(group.rank(), step)).backward()
                         : ddp.backward_without_batch();
      const auto expected = alone->named_parameters();
      for (const auto& item : net->named_parameters())
        expect_equal_sums(item->grad(), expected[item.key()].grad(), item.key());
    });
  }
}

}  // namespace
}  // namespace lockstep::internal
