#include "cli/stop_request.h"

#include <atomic>
#include <csignal>

namespace lockstep::cli {

namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal");

void note(int) {
  requested = true;
}

}  // namespace

void catch_stop_requests() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
}

bool stop_requested() {
  return requested;
}

}  // namespace lockstep::cli
