// Ranks that keep their weights in different layouts must not add up their gradients.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

namespace lockstep::internal::train {

/// A collective. Throws MismatchError, the same on every rank, unless all store their
/// parameters in the same layout. An engine may choose the layout by the processor, which may
/// differ between hosts.
void require_same_layouts(Group& group, const engine::Engine& engine);

}  // namespace lockstep::internal::train
