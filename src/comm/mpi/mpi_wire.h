// The wire over MPI: nonblocking messages and collectives on a communicator per group.
#pragma once

#include "base/deadline.h"
#include "comm/mesh/mesh_transport.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

struct MpiWireOptions {
  /// Longest message in bytes: MPI counts in 32-bit integers, so longer transfers are split. The
  /// same on all ranks. Tests make it small.
  std::size_t part_bytes = std::size_t{1} << 30;
};

/// The wire for rank `rank` of a group. `members` maps a rank in the group to its rank in the run,
/// which is its rank in MPI's world. All members call it at about the same time, with the same
/// name. Starts MPI if necessary. Throws TimeoutError if a member does not arrive.
///
/// Destroying the wire ends it normally. close() is for failures: after it, this process does not
/// call MPI_Finalize, which would wait for lost peers.
std::unique_ptr<Wire> make_mpi_wire(const std::vector<int>& members, int rank,
                                    const std::string& group, const WaitLimit& limit,
                                    const MpiWireOptions& options = {});

/// The wire of the mpi transport. If this build has no MPI, making one throws UsageError.
WireKind mpi_wire();

}  // namespace lockstep::internal::comm
