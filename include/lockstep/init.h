// Joining a run.
#pragma once

#include <lockstep/group.h>

namespace lockstep {

/// Makes this process a member of the run that its launcher started, and returns the group of all
/// its ranks.
///
/// Its place comes from the environment, from the first of these that is there: LOCKSTEP_* (set by
/// `lockstep launch`); torchrun's RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, where rank 0
/// serves the rendezvous; Open MPI's, then PMI's variables, where MPI exchanges the address;
/// Slurm's. A rank without a size is an error; with nothing at all it is a world of one.
/// Ranks may run on several hosts if they know a token (LOCKSTEP_TOKEN, set by `lockstep launch`):
/// without one only loopback is served. GroupOptions has how they talk. Throws UsageError,
/// TimeoutError, PeerLostError or Error.
///
/// Call it once a process; every rank of the run must.
Group init(const GroupOptions& options = {});

}  // namespace lockstep
