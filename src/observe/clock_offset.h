// One clock for all ranks. Ranks of one host share the steady clock; between hosts it has to be
// estimated: each rank asks rank 0 for its time again and again, and takes the answer that came
// back fastest, half of whose journey was on the way there.
#pragma once

#include <lockstep/group.h>

#include "base/deadline.h"

#include <functional>
#include <string>

namespace lockstep::observe {

struct ClockOffset {
  double seconds = 0;      ///< to add to this rank's clock, to have rank 0's
  double uncertainty = 0;  ///< the truth is at most so far away
};

/// What tells whose clocks are the same: a text that only the kernel that runs this process has.
std::string clock_identity();

/// A collective. `identity` and `clock` are this rank's; others only in tests.
ClockOffset offset_to_rank_zero(Group& group, const std::string& identity = clock_identity(),
                                const std::function<double()>& clock = now_seconds);

}  // namespace lockstep::observe
