// Plateau: lowers the learning rate when the test's loss falls no more. It is asked after every
// epoch with the test's scores, which are the same on all ranks: so all change their rate before
// the same step, without a word.
#pragma once

#include "train/control.h"
#include "train/notes.h"

#include <cstddef>
#include <limits>

namespace lockstep::train {

class Plateau {
 public:
  explicit Plateau(const Control& control) : control_(control) {}

  /// The test after an epoch. Whether the rate is lower from now on.
  bool after_epoch(double loss);

  /// What the schedule's rate is multiplied by.
  double share() const { return share_; }

  /// What it remembers, for a checkpoint's metadata; and back. Metadata without it, or with
  /// something else in its place, leave it as it is.
  Notes state() const;
  void restore(const Notes& notes);

 private:
  const Control control_;
  double share_ = 1;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::size_t epochs_since_ = 0;  ///< that it was found, or the rate lowered
};

}  // namespace lockstep::train
