// on_rank_zero: work that rank 0 does alone while the other ranks wait, however long it takes. The
// group's time-out is meant for ranks that hang; a slow disk may take longer without any fault.
#pragma once

#include <lockstep/group.h>

#include <functional>

namespace lockstep::internal::sync {

/// Runs `work` in a thread on rank 0 and returns on all ranks when it has ended. Until then rank 0
/// sends a sign of life every 200 ms, so that the other ranks keep waiting. An exception of `work`
/// is thrown on rank 0 only; the other ranks get a PeerLostError when rank 0 leaves the group. A
/// collective. REQUIRES: `work` does not use the group.
void on_rank_zero(Group& group, const std::function<void()>& work);

}  // namespace lockstep::internal::sync
