// The verdict on a run, from its records and what else is known of it.
#pragma once

#include "train/machines.h"
#include "train/recorder.h"
#include "train/summary.h"

#include <vector>

namespace lockstep::train {

struct Circumstances {
  Machines machines;
  std::vector<double> latency;  ///< by rank: seconds of an operation with next to nothing to move
  std::size_t buckets = 1;
  double gradient_bytes = 0;
  int loader_threads = 0;
};

/// Fills in latencies, the bottleneck and the verdict. REQUIRES: summarise() filled in the rest,
/// every rank has equally many records, and a latency.
void judge(const std::vector<std::vector<Record>>& records, const Circumstances& circumstances,
           Summary& summary);

}  // namespace lockstep::train
