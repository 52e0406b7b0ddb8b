#include "cli/stop_request.h"

#include <csignal>

namespace lockstep::cli {

namespace {

volatile std::sig_atomic_t requested = 0;

void note(int) {
  requested = 1;
}

}  // namespace

void catch_stop_requests() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

bool stop_requested() {
  return requested != 0;
}

}  // namespace lockstep::cli
