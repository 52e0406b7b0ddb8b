// C10dTraining: trains a model with libtorch's c10d alone, as a careful C++ program would without
// Lockstep. Every rank has one object; the constructor and step() are collectives.
#pragma once

#include "models/classifier.h"

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::benchmarks {

using ProcessGroup = c10::intrusive_ptr<c10d::ProcessGroup>;

struct C10dOptions {
  int rank = 0;
  int size = 1;
  std::string master_address;  ///< of the rendezvous, which rank 0 serves
  std::uint16_t master_port = 0;

  std::string model;
  /// `ddp` uses c10d::Reducer, on which PyTorch's DistributedDataParallel is built, in the same
  /// way; `all-reduce` averages one gradient after another.
  std::string method;
  std::int64_t batch = 0;   ///< images of all ranks in a step
  std::int64_t images = 0;  ///< images in an epoch
  std::size_t iterations = 0;
  int threads = 1;
};

/// ProcessGroupGloo over loopback.
ProcessGroup make_group(const C10dOptions& options);

class C10dTraining {
 public:
  C10dTraining(const C10dOptions& options, ProcessGroup group);

  void step(std::size_t iteration);

  /// Throws std::runtime_error if the ranks' weights differ. A collective.
  void require_equal_weights();

 private:
  struct Share {
    torch::Tensor images;
    torch::Tensor labels;
  };

  void make_shares(const C10dOptions& options);
  void average_per_tensor();

  ProcessGroup group_;
  std::shared_ptr<models::Classifier> model_;
  std::vector<torch::Tensor> parameters_;
  torch::optim::SGD sgd_;
  std::vector<Share> shares_;  ///< this rank's part of each global batch of an epoch
  const bool per_tensor_;
  std::unique_ptr<c10d::Reducer> reducer_;  ///< null unless the method is `ddp`
};

}  // namespace lockstep::internal::benchmarks
