// Checks that all ranks still have the same weights. Equal gradients keep equal weights equal. A
// memory fault, a program that changes one rank's weights, or ranks that compute an update
// differently make them diverge: without a check that is not noticed, and spoils the training.
#pragma once

#include <lockstep/group.h>

#include "sync/gradients.h"

#include <cstddef>

namespace lockstep::internal::sync {

/// A collective. Throws Error, the same on every rank, unless all ranks have the same weights to
/// the bit. It names the ranks that differ from the majority, or from rank 0 if there is none, each
/// with the first parameter that differs. `weights` are laid out like the gradients; the message
/// quotes `step`. Costs one pass over the weights, and 16 bytes of messages if they are equal.
void require_same_weights(Group& group, const Gradients& gradients, const ArrayView& weights,
                          std::size_t step);

}  // namespace lockstep::internal::sync
