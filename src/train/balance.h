// Balance: finds out how fast each worker computes, and shares out the global batch accordingly, so
// that none waits for the slowest. Every worker times its own forward and backward over a row of
// steps; then all tell each other, and come to the same division. Gradients are weighted by images
// whatever the division, so the average stays that of the global batch.
//
// Rows get longer: the first is short, to be rid of a bad division soon, and later ones let what
// was only a moment's load pass.
#pragma once

#include <lockstep/group.h>

#include "train/division.h"
#include "train/recorder.h"

#include <optional>
#include <set>

namespace lockstep::train {

class Balance {
 public:
  /// Begins with even shares.
  Balance(Group group, std::size_t batch);

  /// To be called by all ranks after each step, with what this rank measured in it. Returns a
  /// division that is worth changing to, the same on all ranks; none most of the time. A collective
  /// at the end of a row.
  std::optional<Division> after_step(const Record& record);

 private:
  void measure(const Record& record);

  Group group_;
  const std::size_t batch_;
  Division division_;
  std::set<double> seen_;  ///< shares' sizes: the first step of each pays for what is set up once
  double images_ = 0;      ///< measured in this row
  double seconds_ = 0;
  std::size_t row_;   ///< steps
  std::size_t left_;  ///< of it
};

}  // namespace lockstep::train
