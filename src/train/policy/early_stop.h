// EarlyStop: ends a run whose test accuracy is good enough, or whose test loss stopped improving.
// Test scores are the same on all ranks, so all ranks decide the same without communication.
#pragma once

#include "train/checkpoint/checkpoint_metadata.h"
#include "train/config/run_policy.h"

#include <limits>
#include <string>

namespace lockstep::internal::train {

class EarlyStop {
 public:
  explicit EarlyStop(const RunPolicy& policy) : policy_(policy) {}

  /// Takes the scores of the test after an epoch. Returns why the run is to stop; empty to
  /// continue.
  std::string after_epoch(std::size_t epoch, double loss, double accuracy);

  /// The state that a checkpoint keeps. restore() changes nothing if the metadata lack it.
  CheckpointMetadata state() const;
  void restore(const CheckpointMetadata& metadata);

 private:
  const RunPolicy policy_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::size_t epochs_since_ = 0;  ///< epochs since the best loss
};

}  // namespace lockstep::internal::train
