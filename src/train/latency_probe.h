// LatencyProbe: what an operation between the ranks costs before anything moves.
//
// It is measured by steps of the run's own sync method with gradients of one element, some before
// the run and some in between its iterations: a machine with other work to do answers fast at one
// moment and slowly at another. All together they are some hundred small operations, however long
// the run is.
#pragma once

#include <lockstep/group.h>

#include "sync/sync_method.h"

#include <memory>
#include <optional>
#include <vector>

namespace lockstep::train {

class LatencyProbe {
 public:
  /// A collective. With one rank there is nothing to measure, and no call costs anything.
  LatencyProbe(Group group, const sync::Method& method);

  /// Measures once more, if it is time to. A collective: all ranks call it after the same
  /// iterations.
  void after_iteration(std::size_t iteration);

  /// Seconds of an operation on this rank; 0 with one rank.
  double seconds() const;

 private:
  void measure();

  Group group_;
  std::optional<sync::Gradients> gradients_;
  std::unique_ptr<sync::SyncMethod> method_;  ///< null with one rank
  std::vector<double> measured_;
};

}  // namespace lockstep::train
