// gather-scatter: for each parameter, rank 0 gathers all ranks' gradients, averages them, and
// scatters the average. The first thing people write, and the slowest: rank 0 moves 2(W−1) times
// the gradients of a model one after another, while the others wait.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::sync {

class GatherScatter : public SyncMethod {
 public:
  GatherScatter(Group group, const Gradients& gradients, ReduceOp op);

  void ready(std::size_t) override {}
  void finish() override;

 private:
  Group group_;
  const Gradients& gradients_;
  const ReduceOp op_;
  std::vector<std::byte> parts_;  ///< on rank 0: room for all ranks' gradients of one parameter
};

}  // namespace lockstep::sync
