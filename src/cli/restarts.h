// Restarting a job after one of its workers died.
#pragma once

#include "launch/process/outcome.h"

#include <csignal>
#include <functional>

namespace lockstep::internal::cli {

/// Exit code of a worker that stopped on request: that of a process killed by SIGTERM.
inline constexpr int kStopped = 128 + SIGTERM;

/// Whether a restart may help: false if the job succeeded, had bad usage or was asked to stop.
bool may_start_again(const launch::JobResult& result);

/// Calls run(0), then run(1), run(2) … while a restart may help, up to `restarts` restarts.
/// Restarts that a result has already counted (JobResult::restart) count too. Before each restart,
/// `say` tells the user how the job ended. Returns the last result.
launch::JobResult run_with_restarts(
    int restarts, const std::function<launch::JobResult(int restart)>& run,
    const std::function<void(const launch::JobResult& ended, int restart)>& say);

}  // namespace lockstep::internal::cli
