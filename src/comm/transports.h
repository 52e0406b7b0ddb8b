// The transports between processes, by name.
#pragma once

#include "comm/transport.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

/// The transports of this build: "thread", "shm", "gloo", …; "auto" is not included.
std::vector<std::string> transport_names();

/// Throws UsageError unless `name` is "auto" or a transport between processes, built or not.
void require_transport(const std::string& name);

/// The network transport that `auto` uses between hosts.
enum class Network { gloo, mpi };

/// Joins the group as one of its processes and waits until all have. `name` is one of
/// transport_names() except thread, or "auto": shm if all ranks share a host, else `network`
/// between hosts combined with shm within hosts that have several ranks. Throws UsageError for a
/// transport that does not exist or is not built, PeerLostError and TimeoutError.
std::unique_ptr<Transport> make_transport(const std::string& name, Network network,
                                          const RunContext& run, const Membership& membership,
                                          const Deadline& deadline);

}  // namespace lockstep::internal::comm
