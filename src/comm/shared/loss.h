// Which rank of a group in shared memory is gone or stuck, and who is to blame for it.
#pragma once

#include "comm/blame.h"
#include "comm/shared/shared_space.h"

#include <optional>
#include <vector>

namespace lockstep::comm {

/// If `rank` is gone: who is to blame, itself or whoever made it give up.
std::optional<Loss> loss_of(const SharedSpace& space, int rank);

/// Notes that `rank` gives up because of the rank called `culprit`, if any. Call it before leaving
/// the group.
void blame(const Blackboard& board, int rank, int culprit);

/// Those of `suspects` that do not even wait, as all ranks do that are held up by another: they are
/// stopped, or busy with something else. Takes `rank`, which asks, a moment.
std::vector<int> stuck_among(const Blackboard& board, int rank, const std::vector<int>& suspects);

/// The rank to blame if `peer` keeps `rank` waiting too long: whoever else is stuck, if `peer` only
/// waits itself. Nothing if all wait.
std::optional<int> culprit_behind(const Blackboard& board, int rank, int peer);

/// To be called at every tick of a wait: shows that `rank` waits.
void show_waiting(const Blackboard& board, int rank);

}  // namespace lockstep::comm
