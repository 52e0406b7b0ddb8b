// gather-scatter: for each parameter, rank 0 gathers all ranks' gradients, averages them, and
// scatters the average. The most direct method, and the slowest: rank 0 moves 2(W−1) times the
// model's gradients one after another, while the other ranks wait.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::internal::sync {

class GatherScatter : public SyncMethod {
 public:
  GatherScatter(Group group, const Gradients& gradients, ReduceOp op);

  void ready(std::size_t) override {}
  void finish() override;

 private:
  Group group_;
  const Gradients& gradients_;
  const ReduceOp op_;
  std::vector<std::byte> parts_;  ///< on rank 0: space for all ranks' gradients of one parameter
};

}  // namespace lockstep::internal::sync
