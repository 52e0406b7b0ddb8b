#include "c10d_training.h"

#include "models/model.h"

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <stdexcept>

namespace lockstep::internal::benchmarks {

namespace {

/// Configured like DistributedDataParallel's: default bucket sizes, the last parameters in the
/// first bucket, and gradients that are views of the buckets.
std::unique_ptr<c10d::Reducer> make_reducer(const std::vector<torch::Tensor>& parameters,
                                            const ProcessGroup& group) {
  auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
      parameters, {c10d::kDefaultFirstBucketBytes, c10d::kDefaultBucketBytesCap});
  std::reverse(buckets.begin(), buckets.end());
  std::reverse(limits.begin(), limits.end());
  const std::vector<bool> sparse(parameters.size(), false);
  return std::make_unique<c10d::Reducer>(
      parameters, buckets, limits, group, sparse, c10d::kDefaultBucketBytesCap,
      /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/true,
      std::unordered_map<std::size_t, std::string>(), c10d::kDefaultFirstBucketBytes);
}

}  // namespace

ProcessGroup make_group(const C10dOptions& options) {
  c10d::TCPStoreOptions rendezvous;
  rendezvous.port = options.master_port;
  rendezvous.isServer = options.rank == 0;
  rendezvous.numWorkers = static_cast<std::size_t>(options.size);
  auto store = c10::make_intrusive<c10d::TCPStore>(options.master_address, rendezvous);
  auto gloo = c10d::ProcessGroupGloo::Options::create();
  gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, options.rank, options.size, gloo);
}

C10dTraining::C10dTraining(const C10dOptions& options, ProcessGroup group)
    : group_(std::move(group)),
      model_(models::make_model(options.model)),
      parameters_(model_->parameters()),
      sgd_(parameters_, torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(1e-4)),
      per_tensor_(options.method == "all-reduce" && options.size > 1) {
  torch::manual_seed(5001 + options.rank);  // each rank has its own images
  make_shares(options);
  // All ranks have drawn the same weights from the same seed, so there is nothing to broadcast.
  if (options.method == "ddp" && options.size > 1) reducer_ = make_reducer(parameters_, group_);
}

void C10dTraining::make_shares(const C10dOptions& options) {
  const data::ImageShape& shape = model_->images();
  for (std::int64_t begin = 0; begin < options.images; begin += options.batch) {
    const std::int64_t count = std::min(options.batch, options.images - begin);
    const std::int64_t mine =
        count * (options.rank + 1) / options.size - count * options.rank / options.size;
    shares_.push_back({torch::randn({mine, shape.channels, shape.height, shape.width}),
                       torch::randint(10, {mine}, torch::kInt64)});
  }
}

void C10dTraining::step(std::size_t iteration) {
  const Share& share = shares_[iteration % shares_.size()];
  // Python's zero_grad(set_to_none=True), which libtorch 1.13's optimizers lack.
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
  if (reducer_) {
    reducer_->prepare_for_forward();
    if (reducer_->should_rebuild_buckets()) reducer_->rebuild_buckets();
  }
  const torch::Tensor scores = model_->forward(share.images);
  if (reducer_) reducer_->prepare_for_backward({});
  torch::nn::functional::cross_entropy(scores, share.labels).backward();
  if (per_tensor_) average_per_tensor();
  sgd_.step();
}

void C10dTraining::average_per_tensor() {
  torch::NoGradGuard no_grad;
  for (const torch::Tensor& parameter : parameters_) {
    std::vector<torch::Tensor> gradient{parameter.grad()};
    group_->allreduce(gradient)->wait();
    gradient[0].div_(group_->getSize());
  }
}

void C10dTraining::require_equal_weights() {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> sums;
  for (const torch::Tensor& parameter : parameters_) sums.push_back(parameter.sum(torch::kFloat64));
  std::vector<torch::Tensor> highest{torch::stack(sums)};
  std::vector<torch::Tensor> lowest{highest[0].clone()};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::MAX;
  group_->allreduce(highest, options)->wait();
  options.reduceOp = c10d::ReduceOp::MIN;
  group_->allreduce(lowest, options)->wait();
  if (!highest[0].equal(lowest[0])) throw std::runtime_error("ranks ended with different weights");
}

}  // namespace lockstep::internal::benchmarks
