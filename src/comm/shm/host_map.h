// Which ranks share a host: found by trying, never by a host's name. Two ranks share a host if one
// can map the other's memory.
#pragma once

#include "comm/membership.h"

#include <vector>

namespace lockstep::comm {

/// For each rank of the group the lowest rank that shares its host. A collective; all ranks get the
/// same answer. Throws PeerLostError and TimeoutError, and what the limit's tick throws.
std::vector<int> find_hosts(const RunContext& run, const Membership& membership,
                            const WaitLimit& limit);

}  // namespace lockstep::comm
