// What bench achieves with the messages of a training step: the measure of a run's bandwidth.
#pragma once

#include "launch/hosts/network_hosts.h"
#include "study/scale.h"
#include "study/step_sizes.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace lockstep::internal::cli {

/// Measures with workers of its own, on the run's transport and by its algorithm. Runs that bring
/// the same together share one measurement.
class StepBench {
 public:
  /// With workers on these hosts, unless it is null.
  explicit StepBench(const launch::NetworkHosts* hosts) : hosts_(hosts) {}

  /// The all-reduces of one step, one after another. REQUIRES: several workers, and the run has
  /// ended. Throws what measure_on throws.
  std::optional<study::BenchedStep> measure(const study::PlannedRun& plan,
                                            const run::Summary& summary);

 private:
  using Key = std::tuple<std::string, int, Algorithm, study::StepSizes>;

  const launch::NetworkHosts* const hosts_;
  std::map<Key, study::BenchedStep> measured_;
};

}  // namespace lockstep::internal::cli
