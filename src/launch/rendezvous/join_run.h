// Joining a run: the part of init() before the group is made.
#pragma once

#include <lockstep/group.h>

#include "comm/membership.h"
#include "comm/transports.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

class StoreClient;

/// A process that has registered at the rendezvous of its run.
struct Joined {
  comm::RunContext run;  ///< empty in a world of one rank
  comm::Membership world;
  std::string transport;  ///< as requested: "auto", "shm", …
  comm::Network network = comm::Network::gloo;
  std::vector<std::string> request{};     ///< this rank's request: see request.h
  std::shared_ptr<StoreClient> client{};  ///< run.store; set by join_elastic_run() only
};

/// Finds this process's place from its environment and joins, when all ranks have arrived and have
/// the same request. Throws UsageError, MismatchError, TimeoutError, PeerLostError or Error.
Joined join_run(const GroupOptions& options, const Deadline& deadline);

/// Joins a run whose group will change: `world` is not set, a single worker connects to the
/// rendezvous too, and the other workers are not waited for. REQUIRES: elastic_workers() is set.
Joined join_elastic_run(const GroupOptions& options, const Deadline& deadline);

/// A world of one rank needs no rendezvous.
std::unique_ptr<comm::Transport> make_alone(const comm::Membership& world,
                                            const Deadline& deadline);

}  // namespace lockstep::internal::launch
