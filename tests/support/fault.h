// Failures of a rank, for tests that disturb a group at a chosen or a random moment.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace lockstep::internal::testing {

enum class Fault { kill, segv, exit, stop };

inline std::string name_of(Fault fault) {
  switch (fault) {
    case Fault::kill:
      return "kill";
    case Fault::segv:
      return "segv";
    case Fault::exit:
      return "exit";
    case Fault::stop:
      return "stop";
  }
  throw std::logic_error("no such fault");
}

inline Fault parse_fault(const std::string& name) {
  for (Fault fault : {Fault::kill, Fault::segv, Fault::exit, Fault::stop})
    if (name_of(fault) == name) return fault;
  throw std::invalid_argument("no fault is called " + name);
}

/// How long a stopped rank stays stopped: much longer than the deadline that a test gives its
/// peers.
constexpr std::chrono::milliseconds kStopped(2500);
constexpr std::chrono::milliseconds kDeadlineOfStopped(600);

/// Another process has to wake it up again, or the test would not end.
inline void stop_for_a_while(std::chrono::milliseconds length = kStopped) {
  const pid_t late = ::getpid();
  if (::fork() == 0) {
    std::this_thread::sleep_for(length);
    ::kill(late, SIGCONT);
    ::_exit(0);
  }
  ::kill(late, SIGSTOP);
}

/// Applies the failure to this process now. Only a stop returns.
inline void inject_fault(Fault fault) {
  switch (fault) {
    case Fault::kill:
      ::kill(::getpid(), SIGKILL);
      break;
    case Fault::segv:
      ::signal(SIGSEGV, SIG_DFL);  // Open MPI and sanitizers would print a stack trace first
      ::kill(::getpid(), SIGSEGV);
      break;
    case Fault::exit:
      ::_exit(0);
    case Fault::stop:
      stop_for_a_while();
  }
}

/// Applies the failure to this process after a delay, whatever it does then.
inline std::jthread inject_fault_after(std::chrono::microseconds delay, Fault fault) {
  return std::jthread([=] {
    std::this_thread::sleep_for(delay);
    inject_fault(fault);
  });
}

}  // namespace lockstep::internal::testing
