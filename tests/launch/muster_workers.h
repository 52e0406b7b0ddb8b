// What workers of a run whose group changes do in tests.
#pragma once

#include "launch/muster.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace lockstep::launch {

inline int rank() {
  return std::atoi(std::getenv("LOCKSTEP_RANK"));
}

inline void die() {
  ::kill(::getpid(), SIGKILL);
}

inline MusterOptions options(const char* transport = "shm") {
  MusterOptions options;
  options.group.transport = transport;
  options.most = 4;
  return options;
}

/// The numbers of all that are in the group.
inline std::vector<int> numbers_in(Group& group) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::vector<std::int64_t>{rank()}, all);
  return {all.begin(), all.end()};
}

/// Waits for the loss of another, which must be this one.
inline void await_loss_of(Group& group, int number) {
  try {
    group.barrier();
    throw Error("nobody was lost");
  } catch (const PeerLostError& lost) {
    if (lost.rank() != number) throw;
  }
}

}  // namespace lockstep::launch
