// Plateau: lowers the learning rate when the test loss stopped improving. Test scores are the same
// on all ranks, so all ranks decide the same without communication.
#pragma once

#include "train/checkpoint/checkpoint_metadata.h"
#include "train/config/run_policy.h"

#include <cstddef>
#include <limits>

namespace lockstep::internal::train {

class Plateau {
 public:
  explicit Plateau(const RunPolicy& policy) : policy_(policy) {}

  /// Takes the loss of the test after an epoch. Returns whether the rate is lower from now on.
  bool after_epoch(double loss);

  /// The factor of the schedule's learning rate, 0 to 1.
  double factor() const { return factor_; }

  /// The state that a checkpoint keeps. restore() changes nothing if the metadata lack it.
  CheckpointMetadata state() const;
  void restore(const CheckpointMetadata& metadata);

 private:
  const RunPolicy policy_;
  double factor_ = 1;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::size_t epochs_since_ = 0;  ///< epochs since the best loss, or since the rate was lowered
};

}  // namespace lockstep::internal::train
