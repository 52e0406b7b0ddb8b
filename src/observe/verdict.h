// The verdict: one sentence or two on what limits a run, and what to change.
#pragma once

#include "observe/times.h"

#include <string>

namespace lockstep::observe {

/// What is known of a run: the mean iteration over all ranks, and the machine it had.
struct Situation {
  Times mean;
  int workers = 1;
  int threads = 1;  ///< a worker
  int cores = 1;
};

std::string verdict(const Situation& situation);

}  // namespace lockstep::observe
