// What `lockstep doctor` finds: one line each, and what to do where something will bite.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Finding {
  enum class State { fine, warning, broken };

  std::string what;
  std::string value;             ///< for people, with its unit
  std::optional<double> number;  ///< for programs, where the value is one; the unit is the value's
  State state = State::fine;
  std::string advice;  ///< what to do; may be there for what is fine too

  Finding& warn(std::string what_to_do);
  Finding& fail(std::string what_to_do);
};

std::string_view name_of(Finding::State state);

// Each looks at one side of the machine. None throws: what cannot be found out is a finding as
// well. The first forks, and therefore runs while this process has no threads.

/// Whether processes can share memory and watch each other, as the shm transport does.
std::vector<Finding> examine_kernel();
/// Cores, vector units, memory, /dev/shm and limits, judged for a run of `workers`.
std::vector<Finding> examine_machine(int workers);
/// What this build has.
std::vector<Finding> examine_build();
/// Measured: memory on one core and on `cores`, and TCP over loopback.
std::vector<Finding> examine_speed(int cores);

}  // namespace lockstep::cli
