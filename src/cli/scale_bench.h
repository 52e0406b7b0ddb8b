// What bench achieves with the messages of a training step: the measure of a run's bandwidth.
#pragma once

#include "study/messages.h"
#include "study/scale.h"

#include <map>
#include <string>
#include <tuple>

namespace lockstep::cli {

/// Measures with workers of its own, on the run's transport and by its algorithm. Runs that bring
/// the same together share one measurement.
class StepBench {
 public:
  /// Seconds of the all-reduces of one step, one after another. REQUIRES: several workers, and the
  /// run has ended. Throws what measure_on throws.
  double seconds(const study::PlannedRun& plan, const train::Summary& summary);

 private:
  using Key = std::tuple<std::string, int, Algorithm, study::Messages>;

  std::map<Key, double> measured_;
};

}  // namespace lockstep::cli
