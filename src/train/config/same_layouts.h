// Ranks that keep their weights in different layouts must not add up their gradients.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

namespace lockstep::internal::train {

/// A collective. Throws MismatchError, the same on every rank, unless all have their parameters in
/// the same layout: an engine may choose it by the processor, and hosts may differ in theirs.
void require_same_layouts(Group& group, const engine::Engine& engine);

}  // namespace lockstep::internal::train
