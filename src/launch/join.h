// Joining a run: what init does before it makes the group.
#pragma once

#include <lockstep/group.h>

#include "comm/membership.h"
#include "comm/transports.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::launch {

class StoreClient;

/// A process that has found the rendezvous of its run and told it that it is there.
struct Joined {
  comm::RunContext run;  ///< empty in a world of one
  comm::Membership world;
  std::string transport;  ///< as asked for: "auto", "shm", …
  comm::Network network = comm::Network::gloo;
  std::vector<std::string> request{};     ///< what it told the others: see request.h
  std::shared_ptr<StoreClient> client{};  ///< run.store; of join_elastic_run() only
};

/// Finds this process's place from its environment and joins, when all ranks have come and ask for
/// the same. Throws UsageError, MismatchError, TimeoutError, PeerLostError or Error.
Joined join_run(const GroupOptions& options, const Deadline& deadline);

/// The same for a run whose group will change: `world` is not set, even one worker comes to the
/// rendezvous, and the others are not waited for. REQUIRES: elastic_workers().
Joined join_elastic_run(const GroupOptions& options, const Deadline& deadline);

/// A world of one needs no rendezvous.
std::unique_ptr<comm::Transport> make_alone(const comm::Membership& world,
                                            const Deadline& deadline);

}  // namespace lockstep::launch
