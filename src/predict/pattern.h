// Pattern: what every rank does in a collective, recorded from the collective's own code.
#pragma once

#include "comm/recording/recorded_steps.h"
#include "predict/closed_forms.h"

#include <vector>

namespace lockstep::predict {

struct Pattern {
  comm::RecordedWorld world;
  std::vector<comm::RecordedSteps> ranks;  ///< by rank
};

/// Runs the collective once for every rank over a transport that records. Throws UsageError for an
/// algorithm that there is not.
Pattern record(const Collective& collective, const comm::RecordedWorld& world);

/// Seconds until the last rank is done, if all start at once and every rank has a link of its own
/// to every other, each way: no contention but for a rank's own link. A message moves when both
/// sides have started it.
double replay(const Pattern& pattern, const Network& network);

}  // namespace lockstep::predict
