// Starting the workers that `lockstep bench` times, one way for each kind of transport.
#pragma once

#include "cli/bench_measure.h"

#include <string>
#include <vector>

namespace lockstep::launch {
class NetworkHosts;
}

namespace lockstep::cli {

/// What was measured on one group.
struct BenchRun {
  std::string transport;
  int workers = 1;
  std::vector<BenchResult> results;
  bool to_be_shown = true;  ///< false on all ranks but one
};

/// Starts `workers` workers that talk over the transport, and measures. Those that are forked (not
/// of thread and mpi) can be on `hosts`, one each. Throws UsageError for what the transport does
/// not have, Error if a worker failed.
BenchRun measure_on(const std::string& transport, int workers, const BenchPlan& plan,
                    const launch::NetworkHosts* hosts = nullptr);

/// Measures as one worker of the world that a launcher has started. `transport` as in GroupOptions.
BenchRun measure_as_worker(const std::string& transport, const BenchPlan& plan);

}  // namespace lockstep::cli
