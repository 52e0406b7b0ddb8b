// Remarks about the conditions of a measurement, which compare and scale share.
#pragma once

#include "run/summary.h"

#include <string>
#include <vector>

namespace lockstep::internal::study {

/// The machine on which the runs of a study compete for cores.
struct Machine {
  int cores = 1;
  double load = 0;  ///< busy threads in the minute before the study
};

/// This machine, now.
Machine this_machine();

/// The effect of other programs on the measured times. Empty if the machine was idle.
std::string on_busy_machine(const Machine& machine);

/// The speed-up of a run relative to another one, the baseline.
struct SpeedUp {
  std::string name;
  double times = 1;
  const run::Summary& run;
  const run::Summary& baseline;
};

/// The largest speed-up that the cores explain: those that the run can use, relative to those that
/// the baseline can use.
double speedup_of_cores(const SpeedUp& speedup, const Machine& machine);

/// Names the speed-ups beyond those that the cores explain, and possible reasons. Empty if there
/// are none.
std::string on_impossible_speedups(const std::vector<SpeedUp>& speedups, const Machine& machine);

}  // namespace lockstep::internal::study
