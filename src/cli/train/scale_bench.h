// StepBench: times the messages of a training step with bench, to rate the bandwidth of a run.
#pragma once

#include "launch/hosts/network_hosts.h"
#include "study/scale.h"
#include "study/step_sizes.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace lockstep::internal::cli {

/// Starts its own workers, with the transport and algorithm of the run. Runs with equal messages
/// share one measurement.
class StepBench {
 public:
  /// Workers are on these hosts; null for this host.
  explicit StepBench(const launch::NetworkHosts* hosts) : hosts_(hosts) {}

  /// Times the all-reduces of one step, one after another. REQUIRES: several workers, and the run
  /// has ended. Throws what measure_on throws.
  std::optional<study::BenchedStep> measure(const study::PlannedRun& plan,
                                            const run::Summary& summary);

 private:
  using Key = std::tuple<std::string, int, Algorithm, study::StepSizes>;

  const launch::NetworkHosts* const hosts_;
  std::map<Key, study::BenchedStep> measured_;
};

}  // namespace lockstep::internal::cli
