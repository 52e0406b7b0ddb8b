// What rank 0 does alone, however long it takes. The group's time-out is there for ranks that hang;
// a disk may be slower than that without any rank being at fault.
#pragma once

#include <lockstep/group.h>

#include <functional>

namespace lockstep::train {

/// Runs `work` on rank 0, in a thread of its own, and returns on all ranks when it has ended. Until
/// then rank 0 gives signs of life, so that the others go on waiting as long as it lives. A
/// collective. What `work` throws is thrown on rank 0 only; the others get a PeerLostError when it
/// leaves. REQUIRES: `work` does not use the group.
void while_others_wait(Group& group, const std::function<void()>& work);

}  // namespace lockstep::train
