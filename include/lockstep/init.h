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
/// without one only loopback is served. GroupOptions has how they talk.
///
/// Ranks that ask for different transports, are of worlds of different sizes, or have different
/// versions of Lockstep or tables in LOCKSTEP_AUTO_TABLE, all get the same MismatchError, which
/// names the ranks. Throws UsageError, TimeoutError, PeerLostError or Error besides.
///
/// Raises this process's soft limit on open files towards the hard one, since a rank has
/// connections to every other; programs that it starts inherit that.
///
/// Call it once a process, in every rank of the run, and copy the Group where it is needed. After a
/// call that succeeded, any other throws UsageError, even when the group is gone. A call that
/// failed may be tried again if it failed before this process reached the rendezvous (variables
/// that make no sense, nobody at the address), or in a world of one. Later it cannot: the process
/// has told the others that it is there, and they may have given up because of it. A second call
/// then throws UsageError; start the whole run again.
Group init(const GroupOptions& options = {});

}  // namespace lockstep
