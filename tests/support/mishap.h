// What can befall a rank: for tests that disturb a group at a chosen or at a random moment.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace lockstep::testing {

enum class Mishap { kill, segv, exit, stop };

inline std::string name_of(Mishap mishap) {
  switch (mishap) {
    case Mishap::kill:
      return "kill";
    case Mishap::segv:
      return "segv";
    case Mishap::exit:
      return "exit";
    case Mishap::stop:
      return "stop";
  }
  throw std::logic_error("no such mishap");
}

inline Mishap parse_mishap(const std::string& name) {
  for (Mishap mishap : {Mishap::kill, Mishap::segv, Mishap::exit, Mishap::stop})
    if (name_of(mishap) == name) return mishap;
  throw std::invalid_argument("no mishap is called " + name);
}

/// How long a stopped rank stays so: by far longer than the deadline that a test gives its peers.
constexpr std::chrono::milliseconds kStopped(2500);
constexpr std::chrono::milliseconds kDeadlineOfStopped(600);

/// Someone has to wake it up again, or the test would not end.
inline void stop_for_a_while(std::chrono::milliseconds length = kStopped) {
  const pid_t late = ::getpid();
  if (::fork() == 0) {
    std::this_thread::sleep_for(length);
    ::kill(late, SIGCONT);
    ::_exit(0);
  }
  ::kill(late, SIGSTOP);
}

/// Befalls this process now. Only a stop returns.
inline void come_to_grief(Mishap mishap) {
  switch (mishap) {
    case Mishap::kill:
      ::kill(::getpid(), SIGKILL);
      break;
    case Mishap::segv:
      ::signal(SIGSEGV, SIG_DFL);  // Open MPI and sanitizers would print a stack first
      ::kill(::getpid(), SIGSEGV);
      break;
    case Mishap::exit:
      ::_exit(0);
    case Mishap::stop:
      stop_for_a_while();
  }
}

/// Befalls this process after a while, whatever it does then.
inline std::jthread come_to_grief_after(std::chrono::microseconds delay, Mishap mishap) {
  return std::jthread([=] {
    std::this_thread::sleep_for(delay);
    come_to_grief(mishap);
  });
}

}  // namespace lockstep::testing
