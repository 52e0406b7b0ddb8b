// Joining a run.
#pragma once

#include <lockstep/group.h>

namespace lockstep {

/// Makes this process a member of the run that its launcher started, and returns the group of all
/// its ranks.
///
/// Its place comes from the environment: LOCKSTEP_* (set by `lockstep launch`), else torchrun's
/// RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, where rank 0 serves the rendezvous. With neither
/// it is a world of one. All ranks must run on one host. Throws UsageError, TimeoutError or
/// PeerLostError.
///
/// Call it once a process; every rank of the run must.
Group init(const GroupOptions& options = {});

}  // namespace lockstep
