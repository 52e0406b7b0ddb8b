// Finds the ranks that share a host. Two ranks share a host if one can map the other's memory; host
// names are not used.
#pragma once

#include "comm/membership.h"

#include <vector>

namespace lockstep::internal::comm {

/// For each rank of the group, the lowest rank on the same host. A collective; all ranks get the
/// same result. Throws PeerLostError and TimeoutError, and the exceptions of the limit's tick.
std::vector<int> find_hosts(const RunContext& run, const Membership& membership,
                            const WaitLimit& limit);

}  // namespace lockstep::internal::comm
