// Pattern: the steps of every rank in a collective, recorded from the collective's own code.
#pragma once

#include "comm/recording/recorded_steps.h"
#include "predict/closed_forms.h"

#include <vector>

namespace lockstep::internal::predict {

struct Pattern {
  comm::RecordedWorld world;
  std::vector<comm::RecordedSteps> ranks;  ///< by rank
};

/// Runs the collective once for every rank over a transport that records. Throws UsageError for an
/// unsupported algorithm.
Pattern record(const Collective& collective, const comm::RecordedWorld& world);

/// Seconds until the last rank is done, if all start at the same time and every rank has a link to
/// every other in each direction: the only contention is on a rank's own link. A message moves when
/// both sides have started it.
double replay(const Pattern& pattern, const NetworkModel& network);

}  // namespace lockstep::internal::predict
