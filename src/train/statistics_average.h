// Batch norm's running statistics differ between ranks, because each sees its own images. Before a
// model is evaluated or saved they are made one.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

namespace lockstep::train {

/// Replaces every rank's statistics by the average over all ranks, added in the order of the fixed
/// tree on any transport: the same to the bit on all ranks. A collective, unless the model has
/// none.
void average_statistics(Group& group, engine::Engine& engine);

}  // namespace lockstep::train
