// The one change that is most likely to make a run faster, and by how much, as far as its
// measurements can tell. Nothing that the run already does is advised.
#pragma once

#include "observe/bottleneck.h"

#include <string>

namespace lockstep::observe {

struct Remedy {
  double gain = 1;   ///< times as fast; at best, where the text says "up to"
  std::string text;  ///< a sentence; empty if nothing is known to help
};

Remedy remedy_for(const Situation& situation, const Bottleneck& bottleneck);

}  // namespace lockstep::observe
