// local-sgd: every worker trains alone, and after every H steps all workers average their weights.
// This sends 1/H of the messages. But the workers drift apart between two averages, so the result
// differs from that of one worker with the whole batch, and more so with a larger H.
//
// Optimizer state (momentum) is averaged together with the weights. All workers are therefore equal
// after every average, a checkpoint can hold one state for all, and H = 1 equals ddp up to
// rounding. Momentum doubles the bytes.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::internal::sync {

class LocalSgd : public SyncMethod {
 public:
  /// REQUIRES: local_steps >= 1; the weights are laid out like the gradients.
  LocalSgd(Group group, ArrayView weights, int local_steps, Algorithm algorithm)
      : group_(std::move(group)),
        weights_(weights),
        local_steps_(local_steps),
        algorithm_(algorithm) {}

  void ready(std::size_t) override {}
  /// Gradients are not exchanged.
  void finish() override {}
  void step(optim::Optimizer& optimizer) override;
  /// Averages, if a step was made since the last average. The next H steps count from here.
  void settle(optim::Optimizer& optimizer) override;

 private:
  Group group_;
  const ArrayView weights_;
  const int local_steps_;
  const Algorithm algorithm_;
  int steps_ = 0;  ///< steps since the last average
};

}  // namespace lockstep::internal::sync
