// Joining a run: what init does before it makes the group.
#pragma once

#include <lockstep/group.h>

#include "comm/membership.h"
#include "comm/transports.h"

#include <string>

namespace lockstep::launch {

/// A process that has found the rendezvous of its run and told it that it is there.
struct Joined {
  comm::RunContext run;  ///< empty in a world of one
  comm::Membership world;
  std::string transport;  ///< as asked for: "auto", "shm", …
  comm::Network network = comm::Network::gloo;
};

/// Finds this process's place from its environment and joins. Throws UsageError, TimeoutError,
/// PeerLostError or Error.
Joined join_run(const GroupOptions& options, const Deadline& deadline);

}  // namespace lockstep::launch
