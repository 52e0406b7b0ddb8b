// Finding: one line of `lockstep doctor`'s output, with advice if there is a problem.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

struct Finding {
  enum class State { fine, warning, broken };

  std::string what;
  std::string value;             ///< text with its unit
  std::optional<double> number;  ///< the value as a number, in the same unit, if it is one
  State state = State::fine;
  std::string advice;  ///< what to do; a finding without a problem may have one too

  Finding& warn(std::string what_to_do);
  Finding& fail(std::string what_to_do);
};

std::string_view name_of(Finding::State state);

// Each checks one aspect of the machine. None throws: a failed check is a finding too. The first
// one forks, so it must run while this process has no threads.

/// Whether processes can share memory and watch each other, as the shm transport requires.
std::vector<Finding> examine_kernel();
/// Cores, vector units, memory, /dev/shm and limits, checked for a run of `workers`.
std::vector<Finding> examine_machine(int workers);
/// The features of this build.
std::vector<Finding> examine_build();
/// Measured bandwidths: memory on one core and on `cores`, and TCP over loopback.
std::vector<Finding> examine_speed(int cores);

}  // namespace lockstep::internal::cli
