// Starting the workers of a run on this host, with a rendezvous for them, and waiting for their
// end.
#pragma once

#include "launch/supervisor.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::launch {

struct JobOptions {
  int workers = 1;
  /// How long the others may go on after one has failed. They need it to notice and to say who
  /// failed.
  std::chrono::milliseconds grace = std::chrono::seconds(10);
};

/// Runs `body` in `workers` forked processes, which exit with the code it returns. The fastest way
/// to start: libraries are loaded once. REQUIRES: this process has no threads of its own running,
/// and `body` does not throw.
JobResult run_forked(const JobOptions& options, const std::function<int()>& body);

/// Runs a program on `workers` processes. Throws UsageError if it cannot be started.
JobResult run_program(const JobOptions& options, const std::vector<std::string>& command);

}  // namespace lockstep::launch
