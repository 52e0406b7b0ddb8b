// Detects which rank of a group in shared memory is gone or stuck, and which rank caused it.
#pragma once

#include "comm/failure_attribution.h"
#include "comm/shared/shared_space.h"

#include <optional>
#include <vector>

namespace lockstep::internal::comm {

/// If `rank` is gone: the rank that caused it, which is `rank` itself or the rank that made it give
/// up.
std::optional<LostRank> find_lost_rank(const SharedSpace& space, int rank);

/// Records that `rank` gives up because of the rank with label `culprit`, if any. Call it before
/// leaving the group.
void record_cause(const GroupMemory& group_memory, int rank, int culprit);

/// The ranks of `suspects` that are not waiting, unlike ranks that are held up by another: they are
/// stopped or busy. Blocks `rank`, the caller, for a moment.
std::vector<int> stuck_among(const GroupMemory& group_memory, int rank,
                             const std::vector<int>& suspects);

/// The rank that caused the delay if `peer` keeps `rank` waiting too long: `peer`, or another stuck
/// rank if `peer` is itself waiting. Empty if all ranks wait.
std::optional<int> culprit_behind(const GroupMemory& group_memory, int rank, int peer);

/// Shows that `rank` is waiting. Call it at every tick of a wait.
void show_waiting(const GroupMemory& group_memory, int rank);

}  // namespace lockstep::internal::comm
