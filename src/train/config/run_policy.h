// RunPolicy: when a run stops early, when it lowers its learning rate, how often weights are
// compared, and whether batches are divided by speed. All workers make the same decisions.
#pragma once

#include <optional>

namespace lockstep::internal::train {

struct RunPolicy {
  /// Stop after the first epoch with at least this test accuracy, above 0 to 1.
  std::optional<double> stop_at_accuracy;
  /// Stop after so many epochs in a row without a lower test loss.
  std::optional<int> patience;
  /// After so many epochs in a row without a lower test loss, multiply the learning rate by
  /// `plateau_factor`, and restart the count.
  std::optional<int> plateau;
  double plateau_factor = 0.1;
  /// Compare the weights of all workers every so many steps.
  std::optional<int> check_every;
  /// Divide the global batch by the speed of the workers, instead of evenly.
  bool balance = false;

  /// Whether epochs end with a test.
  bool tests_epochs() const { return stop_at_accuracy || patience || plateau; }
};

}  // namespace lockstep::internal::train
