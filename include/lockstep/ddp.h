// DistributedDataParallel: wrap any torch::nn::Module, and the gradients of all ranks' copies are
// averaged while backward runs.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <cstddef>
#include <memory>

namespace lockstep {

struct DdpOptions {
  /// Gradients are reduced in buckets: the first small, so that communication starts early in
  /// backward, the others larger, which costs less overhead a byte but leaves less time to hide it
  /// in.
  std::size_t first_bucket_bytes = 1 << 20;
  std::size_t bucket_bytes = 25 << 20;

  /// `automatic` is the transport's best.
  Algorithm algorithm = Algorithm::automatic;
};

/// While it lives, every backward through the module's parameters returns with gradients that are
/// the average over all ranks of the group, the same to the bit on each. Use the module, your
/// optimizer and your loop as before.
///
/// At construction rank 0's parameters and buffers are copied to all ranks. Every parameter must
/// take part in the loss on every rank: backward throws an Error that names those that did not.
/// Averaged gradients equal those of the whole batch where the loss is a mean and all ranks have
/// equally many samples.
///
/// Thread safety: constructed, used and destroyed by the thread that trains.
class DistributedDataParallel {
 public:
  DistributedDataParallel(std::shared_ptr<torch::nn::Module> module, Group group,
                          const DdpOptions& options = {});
  ~DistributedDataParallel();
  DistributedDataParallel(const DistributedDataParallel&) = delete;
  DistributedDataParallel& operator=(const DistributedDataParallel&) = delete;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lockstep
