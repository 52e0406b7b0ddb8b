// The change that is most likely to make a run faster, and the speed-up that the measurements
// predict for it. An option that the run already uses is never advised.
#pragma once

#include "observe/bottleneck.h"

#include <string>

namespace lockstep::internal::observe {

struct Remedy {
  double gain = 1;   ///< expected speed-up; an upper bound where the text says "up to"
  std::string text;  ///< one sentence; empty if no change is known to help
};

Remedy remedy_for(const Situation& situation, const Bottleneck& bottleneck);

}  // namespace lockstep::internal::observe
