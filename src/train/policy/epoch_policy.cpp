#include "train/policy/epoch_policy.h"

namespace lockstep::internal::train {

bool EpochPolicy::after_epoch(std::size_t epoch, std::size_t done) {
  tester_.test(done);
  const run::TestResults test = tester_.results();
  stop_reason_ = early_stop_.after_epoch(epoch, test.test_loss, test.test_accuracy);
  return plateau_.after_epoch(test.test_loss);
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
