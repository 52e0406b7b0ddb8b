// A model in training by libtorch's own means: what a C++ program can do by hand, at best, without
// Lockstep. One object a rank; all ranks make it, and step, together.
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
  std::string master_address;  ///< where rank 0 serves the others to find each other
  std::uint16_t master_port = 0;

  std::string model;
  /// `ddp` drives c10d::Reducer, the engine below PyTorch's DistributedDataParallel, as that class
  /// does; `all-reduce` averages one gradient after the other.
  std::string method;
  std::int64_t batch = 0;   ///< images of all ranks in a step
  std::int64_t images = 0;  ///< in an epoch
  std::size_t iterations = 0;
  int threads = 1;
};

/// ProcessGroupGloo over loopback.
ProcessGroup make_group(const C10dOptions& options);

class C10dTraining {
 public:
  C10dTraining(const C10dOptions& options, ProcessGroup group);

  void step(std::size_t iteration);

  /// A collective. Throws std::runtime_error if ranks differ: then they did not train one model.
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
  std::unique_ptr<c10d::Reducer> reducer_;  ///< none unless gradients are reduced by it
};

}  // namespace lockstep::internal::benchmarks
