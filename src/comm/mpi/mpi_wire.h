// The wire over MPI: nonblocking messages and collectives on a communicator of the group's own.
#pragma once

#include "base/deadline.h"
#include "comm/mesh/mesh_transport.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::comm {

struct MpiWireOptions {
  /// MPI counts in 32-bit integers: what is longer than this goes as several messages. The same on
  /// all ranks. Tests make it small.
  std::size_t part_bytes = std::size_t{1} << 30;
};

/// The wire of the group that has these members (rank in the group → rank in the run, which is the
/// rank in MPI's world) for its rank `rank`. All members call it at about the same time, with the
/// same name. Starts MPI if nobody has. Throws TimeoutError if a member does not come.
///
/// Destroying the wire is its normal end. close() is for failures: after it this process does not
/// call MPI_Finalize, which would wait for lost peers.
std::unique_ptr<Wire> make_mpi_wire(const std::vector<int>& members, int rank,
                                    const std::string& group, const WaitLimit& limit,
                                    const MpiWireOptions& options = {});

/// The wire of the mpi transport. Where MPI is not built, making one throws UsageError.
WireKind mpi_wire();

}  // namespace lockstep::comm
