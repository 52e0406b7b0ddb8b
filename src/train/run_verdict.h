// The verdict on a run: that it diverged, or what limits its speed; from its records and its
// machines.
#pragma once

#include "run/record.h"
#include "run/summary.h"
#include "train/config/config.h"
#include "train/config/machines.h"

#include <vector>

namespace lockstep::internal::train {

struct Circumstances {
  Machines machines;
  std::vector<double> latency;  ///< by rank: seconds of an operation on a few bytes
  std::size_t buckets = 1;
  double gradient_bytes = 0;
  int loader_threads = 0;
  int classes = 0;
  const TrainConfig& config;
};

/// Fills in latencies, the bottleneck and the verdict. REQUIRES: summarise() filled in the rest,
/// and every rank has equally many records and a latency.
void add_verdict(const std::vector<std::vector<run::Record>>& records,
                 const Circumstances& circumstances, run::Summary& summary);

}  // namespace lockstep::internal::train
