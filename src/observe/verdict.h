// The verdict: a sentence or two on what limits a run, and the one change most likely to help.
#pragma once

#include "observe/bottleneck.h"

#include <string>

namespace lockstep::observe {

struct Verdict {
  Bottleneck bottleneck;
  std::string text;
};

Verdict judge(const Situation& situation);

}  // namespace lockstep::observe
