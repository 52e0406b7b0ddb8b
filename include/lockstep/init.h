// init(): joining the run that a launcher started.
#pragma once

#include <lockstep/group.h>

namespace lockstep {

/// Makes this process a rank of the run that its launcher started, and returns the group of all
/// ranks. Call it once per process, in every rank of the run, and copy the Group where it is
/// needed.
///
/// Rank and world size come from the environment. The first of these sources that is present
/// counts:
/// - `LOCKSTEP_*`, set by `lockstep launch`;
/// - torchrun's `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT`, where rank 0 serves the
///   rendezvous;
/// - the variables of Open MPI, then of PMI, where MPI exchanges the address;
/// - the variables of Slurm.
///
/// A rank without a size is an error. Without any of them the process is a world of one.
///
/// Ranks may run on several hosts if they know a token (`LOCKSTEP_TOKEN`, set by `lockstep
/// launch`). Without a token only loopback connections are served.
///
/// Throws MismatchError on all ranks, with a text that names them, if ranks ask for different
/// transports, belong to worlds of different sizes, have different versions of Lockstep, or have
/// different tables in `LOCKSTEP_AUTO_TABLE`. Also throws UsageError, TimeoutError, PeerLostError
/// or Error.
///
/// After a call that succeeded, every other call throws UsageError, even if the group is gone. A
/// call that failed may be repeated if it failed before this process reached the rendezvous
/// (invalid variables, no server at the address), or in a world of one. After that it
/// cannot be repeated, because other ranks may have failed because of it: a second call throws
/// UsageError. Start the whole run again.
///
/// Side effect: raises the soft limit on open files of this process towards the hard limit, because
/// a rank has a connection to every other one. Programs that this process starts inherit it.
Group init(const GroupOptions& options = {});

}  // namespace lockstep
