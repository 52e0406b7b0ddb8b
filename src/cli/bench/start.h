// Starts the workers that `lockstep bench` times, in one way for each kind of transport.
#pragma once

#include "cli/bench/measure.h"

#include <string>
#include <vector>

namespace lockstep::internal::launch {
class NetworkHosts;
}

namespace lockstep::internal::cli {

/// The measurements of one group.
struct BenchRun {
  std::string transport;
  int workers = 1;
  std::vector<BenchResult> results;
  bool to_be_shown = true;  ///< false on all ranks but one
};

/// Starts `workers` workers on the transport, and measures. Forked workers (all transports but
/// thread and mpi) can be on `hosts`, one each. Throws UsageError for features that the transport
/// lacks, Error if a worker failed.
BenchRun measure_on(const std::string& transport, int workers, const BenchPlan& plan,
                    const launch::NetworkHosts* hosts = nullptr);

/// Measures as one worker of a world that a launcher has started. `transport` as in GroupOptions.
BenchRun measure_as_worker(const std::string& transport, const BenchPlan& plan);

}  // namespace lockstep::internal::cli
