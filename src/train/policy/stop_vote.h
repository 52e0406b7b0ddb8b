// StopVote: stops all ranks after the same step when any rank was asked to stop. A vote is a small
// all-reduce; ranks vote about twenty times a second, however short the steps are.
#pragma once

#include <lockstep/group.h>

#include <cstddef>
#include <functional>

namespace lockstep::internal::train {

class StopVote {
 public:
  /// `asked` returns whether this rank was asked to stop. If it is empty, the run is never stopped.
  StopVote(Group group, std::function<bool()> asked);

  /// Called by all ranks after each step, which took so many seconds. Returns whether to stop, the
  /// same on all ranks.
  bool after_step(double seconds);

 private:
  Group group_;
  const std::function<bool()> asked_;
  std::size_t steps_left_ = 1;  ///< steps until the next vote: the same on all ranks
  double slowest_ = 0;          ///< seconds of this rank's slowest step since the last vote
};

}  // namespace lockstep::internal::train
