// CommonClock: moments on all ranks of a group, on the clock of rank 0.
#pragma once

#include "observe/clock_offset.h"

#include <cstddef>
#include <functional>
#include <string>

namespace lockstep::internal::train {

/// Thread safety: none. Constructor and after_step() are collectives.
class CommonClock {
 public:
  /// Only tests pass `identity` and `clock`; see offset_to_rank_zero().
  explicit CommonClock(Group group, std::string identity = observe::clock_identity(),
                       std::function<double()> clock = now_seconds);

  /// A moment on this rank's steady clock as a moment on that of rank 0.
  double at(double moment) const { return moment + offset_.seconds; }

  /// Call it after every step, with the seconds that the step took. Clocks of different hosts run
  /// at slightly different rates: it measures the offset again several times a minute. On one host
  /// it does nothing.
  void after_step(double seconds);

 private:
  Group group_;
  const std::string identity_;
  const std::function<double()> clock_;
  observe::ClockOffset offset_;
  bool one_host_ = false;
  double slowest_ = 0;    ///< seconds of this rank's slowest step since the last measurement
  std::size_t left_ = 1;  ///< steps until the next measurement: the same on all ranks
};

}  // namespace lockstep::internal::train
