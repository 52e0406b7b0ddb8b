// Starting a job again after one of its workers died.
#pragma once

#include "launch/outcome.h"

#include <csignal>
#include <functional>

namespace lockstep::cli {

/// What a worker exits with that was asked to stop, and did: as one that the signal has ended.
inline constexpr int kStopped = 128 + SIGTERM;

/// Whether a job that ended so may end well another time. Not one that ended well, nor one whose
/// usage was bad, nor one that somebody asked to end.
bool may_start_again(const launch::JobResult& result);

/// Runs the job, with 0, and again, with 1, 2 …, as long as that may help, but at most `restarts`
/// times; a result that has counted further (JobResult::restart) counts. Before each `say` tells
/// the user how it ended. Returns how it ended in the end.
launch::JobResult run_with_restarts(
    int restarts, const std::function<launch::JobResult(int restart)>& run,
    const std::function<void(const launch::JobResult& ended, int restart)>& say);

}  // namespace lockstep::cli
