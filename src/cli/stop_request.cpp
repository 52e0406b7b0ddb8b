#include "cli/stop_request.h"

#include <atomic>
#include <csignal>

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

}  // namespace

void catch_stop_requests() {
  set_handler(note);
}

bool stop_requested() {
  return requested;
}

}  // namespace lockstep::cli
