// local-sgd: every worker trains by itself, and once in H steps all take the average of their
// weights. An H-th of the messages; but between two averages the workers drift apart, so that the
// result is not that of one worker with the whole batch, and less so the larger H is.
//
// What the optimizer remembers (momentum) is averaged with the weights: the workers are alike after
// every average, so that a checkpoint can hold the state of all, and H = 1 is ddp but for rounding.
// It doubles the bytes where there is momentum.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::sync {

class LocalSgd : public SyncMethod {
 public:
  /// REQUIRES: local_steps >= 1; the weights are laid out like the gradients.
  LocalSgd(Group group, ArrayView weights, int local_steps, Algorithm algorithm)
      : group_(std::move(group)),
        weights_(weights),
        local_steps_(local_steps),
        algorithm_(algorithm) {}

  void ready(std::size_t) override {}
  /// Gradients stay each worker's own.
  void finish() override {}
  void step(optim::Optimizer& optimizer) override;
  /// Averages, if a step was made since; the next H steps count from here.
  void settle(optim::Optimizer& optimizer) override;

 private:
  Group group_;
  const ArrayView weights_;
  const int local_steps_;
  const Algorithm algorithm_;
  int steps_ = 0;  ///< since the last average
};

}  // namespace lockstep::sync
