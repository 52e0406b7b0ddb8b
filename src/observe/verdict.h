// The verdict on a run: one sentence on what limits it or went wrong, and one on the change that is
// most likely to help.
#pragma once

#include "observe/bottleneck.h"
#include "observe/divergence.h"

#include <string>

namespace lockstep::internal::observe {

struct Verdict {
  Bottleneck bottleneck;
  std::string text;
};

/// On the speed of a run.
Verdict make_verdict(const Situation& situation);
/// A run that diverged gets no verdict on its speed: first its training has to work.
Verdict verdict_on(const Divergence& divergence);

}  // namespace lockstep::internal::observe
