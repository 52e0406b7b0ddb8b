// The transports between processes, by name.
#pragma once

#include "comm/transport.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::comm {

/// Those that this build has: "thread", "shm", "gloo", …; not "auto", which chooses among them.
std::vector<std::string> transport_names();

/// Throws UsageError unless `name` is a transport between processes, built or not, or "auto".
void require_transport(const std::string& name);

/// What `auto` puts between hosts.
enum class Network { gloo, mpi };

/// Joins the group as one of its processes and waits until all have. `name` is one of
/// transport_names(), except thread, or "auto": shm where all ranks share a host, else `network`
/// between hosts, with shm within those that have several ranks. Throws UsageError for a transport
/// that does not exist or is not built, PeerLostError and TimeoutError.
std::unique_ptr<Transport> make_transport(const std::string& name, Network network,
                                          const RunContext& run, const Membership& membership,
                                          const Deadline& deadline);

}  // namespace lockstep::comm
