// Balance: measures how fast each worker computes and splits the global batch accordingly, so that
// no worker waits for the slowest. Every worker times its own forward and backward over a period of
// several steps; then the workers exchange their speeds and compute the same split. Gradients are
// weighted by images, so their average remains that of the global batch.
//
// Periods get longer: the first is short, to correct a bad split soon; later ones average out
// short-lived load.
#pragma once

#include <lockstep/group.h>

#include "run/record.h"
#include "train/batch_split.h"

#include <optional>
#include <set>

namespace lockstep::internal::train {

class Balance {
 public:
  /// Begins with an even split.
  Balance(Group group, std::size_t batch);

  /// Called by all ranks after each step with this rank's record of it. Returns a split that is
  /// worth changing to, the same on all ranks; usually none. A collective at the end of a period.
  std::optional<BatchSplit> after_step(const run::Record& record);

 private:
  void measure(const run::Record& record);

  Group group_;
  const std::size_t batch_;
  BatchSplit split_;
  std::set<double> seen_;  ///< slice sizes seen; the first step of each includes one-time set-up
  double images_ = 0;      ///< computed in this period, without such first steps
  double seconds_ = 0;     ///< that they took
  std::size_t period_;     ///< steps of this period
  std::size_t left_;       ///< steps of this period that are still to come
};

}  // namespace lockstep::internal::train
