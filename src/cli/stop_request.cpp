#include "cli/stop_request.h"

#include "base/deadline.h"
#include "base/files.h"
#include "base/thread.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <string_view>

namespace lockstep::internal::cli {

namespace {

std::atomic<bool> catching = false;
std::atomic<bool> requested = false;
pthread_t taker;            // the thread that waits for signals
StopRequestOptions chosen;  // written before `catching`, read after it

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&signals, signal);
  struct sigaction hang_up {};
  if (::sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
    sigaddset(&signals, SIGHUP);
  return signals;
}

[[noreturn]] void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
  std::_Exit(128 + signal);
}

/// Forwards a signal to the thread that waits for signals. Some libraries (OpenBLAS) start threads
/// when they are loaded, before signals can be blocked in them.
void pass_on(int signal) {
  ::pthread_kill(taker, signal);
}

/// Waits for signals in a dedicated thread, so that computing threads never run a signal handler:
/// some oneDNN kernels point the stack pointer at a small heap block, and the frame of a handler
/// would overwrite the memory below it.
[[noreturn]] void take_signals(const sigset_t& signals) {
  std::optional<Deadline> one_with_first;
  for (;;) {
    int signal = 0;
    if (::sigwait(&signals, &signal) != 0) continue;
    if (!catching) end_by(signal);
    leave_lost_terminal();
    const bool again = requested.exchange(true);
    if (again && !one_with_first->passed()) continue;
    if (!again) one_with_first = Deadline::after(chosen.one_request);
    if (chosen.announced) announce_stop(again);
    if (again) end_by(signal);
  }
}

}  // namespace

void block_stop_signals() {
  const sigset_t signals = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void hold_stop_requests() {
  static std::once_flag once;
  std::call_once(once, [] {
    block_stop_signals();
    Thread thread("signals", [signals = stop_signals()] { take_signals(signals); });
    taker = thread.native_handle();
    thread.detach();
  });
}

void catch_stop_requests(const StopRequestOptions& options) {
  static std::once_flag once;
  std::call_once(once, [&] {
    chosen = options;
    catching = true;
    hold_stop_requests();  // also takes pending signals
    const sigset_t signals = stop_signals();
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP})
      if (sigismember(&signals, signal) == 1) ::sigaction(signal, &action, nullptr);
  });
}

bool stop_requested() {
  return requested;
}

void announce_stop(bool again) {
  const std::string_view text =
      again ? "lockstep: ending at once, without a checkpoint\n"
            : "lockstep: stopping after the current step, with a checkpoint; a second signal ends "
              "the run at once, without one\n";
  // Errors are ignored, and a full pipe must not block.
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) <= 0 || (out.revents & POLLOUT) == 0) return;
  [[maybe_unused]] ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
}

void leave_lost_terminal() {
  for (int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    pollfd terminal{fd, POLLOUT, 0};
    if (::poll(&terminal, 1, 0) <= 0 || (terminal.revents & POLLHUP) == 0) continue;
    redirect_to_null(fd);
  }
}

}  // namespace lockstep::internal::cli
