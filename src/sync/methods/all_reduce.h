// all-reduce: after backward, one all-reduce for each parameter. The simplest method, and no rank
// is special. But nothing overlaps with backward, and a small tensor costs as much latency as a
// large one.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::internal::sync {

class AllReduce : public SyncMethod {
 public:
  AllReduce(Group group, const Gradients& gradients, Algorithm algorithm, ReduceOp op)
      : group_(std::move(group)), gradients_(gradients), algorithm_(algorithm), op_(op) {}

  void ready(std::size_t) override {}
  void finish() override;

 private:
  Group group_;
  const Gradients& gradients_;
  const Algorithm algorithm_;
  const ReduceOp op_;
};

}  // namespace lockstep::internal::sync
