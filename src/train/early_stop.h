// EarlyStop: whether a run has learnt enough, or learns no more. It is asked after every epoch with
// the test's scores, which are the same on all ranks: so all come to the same answer after the same
// step, without a word.
#pragma once

#include "train/control.h"
#include "train/notes.h"

#include <limits>
#include <string>

namespace lockstep::train {

class EarlyStop {
 public:
  explicit EarlyStop(const Control& control) : control_(control) {}

  /// The test after an epoch. Returns why the run is to stop; empty if it is to go on.
  std::string after_epoch(std::size_t epoch, double loss, double accuracy);

  /// What it remembers, for a checkpoint's metadata; and back. Metadata without it, or with
  /// something else in its place, leave it as it is.
  Notes state() const;
  void restore(const Notes& notes);

 private:
  const Control control_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::size_t epochs_since_ = 0;  ///< that it was found
};

}  // namespace lockstep::train
