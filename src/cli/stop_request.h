// Stop requests: SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask a run to stop after the current step. A
// second signal, more than a second later, ends the process at once. SIGUSR1 is included because
// batch systems and mpirun forward it without a SIGKILL soon after. SIGHUP stays ignored if it
// already was, as under nohup.
#pragma once

#include <chrono>

namespace lockstep::internal::cli {

/// Blocks these signals in the calling thread and in threads that it starts later; a dedicated
/// thread receives them. They still end the process. Call it before computing threads are started.
void hold_stop_requests();

struct StopRequestOptions {
  /// Whether to print the effect of a signal to standard error. One process of a run does.
  bool announced = true;
  /// Signals within this time of the first one belong to the same request. It must be shorter than
  /// a second if a parent process merges signals too, so that a second one from the parent counts.
  std::chrono::milliseconds one_request = std::chrono::seconds(1);
};

/// For workers whose parent process prints the messages and merges signals for a second. Batch
/// systems signal the parent and the workers together, so that each worker gets a second signal
/// from its parent.
constexpr StopRequestOptions kBelowParent{.announced = false,
                                          .one_request = std::chrono::milliseconds(500)};

/// Blocks these signals in the calling thread and in threads that it starts later. They stay
/// pending until a supervisor of workers or catch_stop_requests() takes them.
void block_stop_signals();

/// From now on the first signal only sets stop_requested(). Includes hold_stop_requests(). Further
/// calls have no effect.
void catch_stop_requests(const StopRequestOptions& options = {});

/// Whether a stop was requested.
bool stop_requested();

/// Prints the effect of the first request, or of the second one if `again`.
void announce_stop(bool again);

/// Redirects output to /dev/null if its terminal has hung up, so that writes do not fail.
void leave_lost_terminal();

}  // namespace lockstep::internal::cli
