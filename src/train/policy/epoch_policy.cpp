#include "train/policy/epoch_policy.h"

namespace lockstep::internal::train {

bool EpochPolicy::after_epoch(std::size_t epoch, std::size_t done) {
  tester_.test(done);
  stop_reason_ = early_stop_.after_epoch(epoch, tester_.loss(), tester_.accuracy());
  return plateau_.after_epoch(tester_.loss());
}

CheckpointMetadata EpochPolicy::state() const {
  CheckpointMetadata metadata = early_stop_.state();
  metadata.merge(plateau_.state());
  return metadata;
}

void EpochPolicy::restore(const CheckpointMetadata& metadata) {
  early_stop_.restore(metadata);
  plateau_.restore(metadata);
}

}  // namespace lockstep::internal::train
