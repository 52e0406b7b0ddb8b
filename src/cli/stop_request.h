// What SIGINT, SIGTERM and SIGHUP mean while something goes on that can be left off in good order.
// Once is a request; a second one, more than a second later, ends the process at once. SIGUSR1
// means the same: batch systems and mpirun, which follow the others with SIGKILL, pass it on and
// give it time. SIGHUP stays ignored where it was, as under nohup.
#pragma once

#include <chrono>

namespace lockstep::cli {

/// From now on these signals never interrupt this thread or those that it starts: call it before
/// what computes is begun. They still end the process.
void hold_stop_requests();

struct StopRequestOptions {
  /// Whether to say on standard error what a signal does. For one process of a run.
  bool announced = true;
  /// Signals within this time of the first one are one request with it. Shorter than a second where
  /// a parent process sifts signals, too: what that one passes on later must count.
  std::chrono::milliseconds one_request = std::chrono::seconds(1);
};

/// For workers whose parent process, which announces what signals do, sifts them for a second. It
/// may be signalled together with them, as batch systems do: then each worker gets a signal of its
/// own beside the one that its parent passes on.
constexpr StopRequestOptions kBelowParent{.announced = false,
                                          .one_request = std::chrono::milliseconds(500)};

/// From now on these signals wait, in this thread and in those that it starts, until something
/// takes them: a supervisor of workers does, or catch_stop_requests().
void block_stop_signals();

/// From now on the first of them is only noted. Calling it again changes nothing. Holds them, too.
void catch_stop_requests(const StopRequestOptions& options = {});

/// Whether one came.
bool stop_requested();

/// Says what a first request does, or a second one.
void announce_stop(bool again);

/// A terminal that has hung up takes no more output: from now on that goes nowhere, instead of
/// failing.
void leave_lost_terminal();

}  // namespace lockstep::cli
