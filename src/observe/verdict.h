// The verdict on a run: one sentence on what limits it, and one on the change most likely to help.
#pragma once

#include "observe/bottleneck.h"

#include <string>

namespace lockstep::internal::observe {

struct Verdict {
  Bottleneck bottleneck;
  std::string text;
};

Verdict make_verdict(const Situation& situation);

}  // namespace lockstep::internal::observe
