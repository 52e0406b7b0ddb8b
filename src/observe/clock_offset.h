// The offset of every rank's clock to rank 0's. Ranks on one host share the steady clock. Between
// hosts the offset is estimated as in NTP: each rank asks rank 0 for its time repeatedly and uses
// the answer with the shortest round trip, assuming that both directions took equally long.
#pragma once

#include <lockstep/group.h>

#include "base/deadline.h"

#include <functional>
#include <string>

namespace lockstep::internal::observe {

struct ClockOffset {
  double seconds = 0;      ///< added to this rank's clock gives rank 0's clock
  double uncertainty = 0;  ///< largest possible error of `seconds`
};

/// Identifies the running kernel. Processes with equal identities share the steady clock.
std::string clock_identity();

/// Collective: every rank of the group must call it. Only tests pass `identity` and `clock`.
ClockOffset offset_to_rank_zero(Group& group, const std::string& identity = clock_identity(),
                                const std::function<double()>& clock = now_seconds);

}  // namespace lockstep::internal::observe
