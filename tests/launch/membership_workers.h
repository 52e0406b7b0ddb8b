// Workers of an elastic run in tests.
#pragma once

#include "launch/elastic/elastic_membership.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace lockstep::internal::launch {

inline int rank() {
  return std::atoi(std::getenv("LOCKSTEP_RANK"));
}

inline void die() {
  ::kill(::getpid(), SIGKILL);
}

inline MembershipOptions options(const char* transport = "shm") {
  MembershipOptions options;
  options.group.transport = transport;
  options.most = 4;
  return options;
}

/// The numbers of all members of the group.
inline std::vector<int> numbers_in(Group& group) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::vector<std::int64_t>{rank()}, all);
  return {all.begin(), all.end()};
}

/// Waits until another worker is lost, which must be this one.
inline void await_loss_of(Group& group, int number) {
  try {
    group.barrier();
    throw Error("no worker was lost");
  } catch (const PeerLostError& lost) {
    if (lost.rank() != number) throw;
  }
}

}  // namespace lockstep::internal::launch
