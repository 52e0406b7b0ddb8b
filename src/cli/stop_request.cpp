#include "cli/stop_request.h"

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

namespace lockstep::cli {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1};

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal");

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

void note(int) {
  requested = true;
  set_handler(SIG_DFL);  // whichever comes next is meant
}

/// In this thread and those that it will start.
void mask(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : kSignals) sigaddset(&signals, signal);
  ::pthread_sigmask(how, &signals, nullptr);
}

[[noreturn]] void take_signals() {
  mask(SIG_UNBLOCK);
  for (;;) ::pause();
}

}  // namespace

void catch_stop_requests() {
  set_handler(note);
  // Some of oneDNN's kernels point the stack pointer at a small block on the heap: a handler that
  // ran on their thread would have its frame written over what lies below. One thread waits for
  // signals, and those that compute never see them.
  mask(SIG_BLOCK);
  static std::once_flag once;
  std::call_once(once, [] { std::thread(take_signals).detach(); });
}

bool stop_requested() {
  return requested;
}

}  // namespace lockstep::cli
