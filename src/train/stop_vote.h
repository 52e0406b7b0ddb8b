// StopVote: whether a run is to stop early. Someone may ask any rank at any moment; all must stop
// after the same step, so they vote on it. That costs a small all-reduce, so they do it about
// twenty times a second, however short the steps are.
#pragma once

#include <lockstep/group.h>

#include <cstddef>
#include <functional>

namespace lockstep::train {

class StopVote {
 public:
  /// `asked` says whether this rank was asked to stop. None: the run is never stopped.
  StopVote(Group group, std::function<bool()> asked);

  /// To be called by all ranks after each step, which took so many seconds. Returns the same on
  /// all.
  bool after_step(double seconds);

 private:
  Group group_;
  const std::function<bool()> asked_;
  std::size_t steps_left_ = 1;  ///< until the next vote: the same on all ranks
  double slowest_ = 0;          ///< of this rank's steps since the last one
};

}  // namespace lockstep::train
