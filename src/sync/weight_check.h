// Whether all ranks still have the same weights. Equal gradients keep equal weights equal for ever;
// what parts them (a fault in memory, a program that changes one rank's weights, ranks that compute
// an update differently) goes unnoticed without a check, and spoils what is learnt from then on.
#pragma once

#include <lockstep/group.h>

#include "sync/gradients.h"

#include <cstddef>

namespace lockstep::sync {

/// A collective. Throws Error, the same on every rank, unless all have the same weights to the bit:
/// it names the ranks that differ from most ranks, or where there are no most of them from rank 0,
/// each with the first parameter in which it does. `weights` are laid out like the gradients, and
/// `step` is how far training was, for the message. One pass over the weights; where all is well
/// ranks exchange 16 bytes.
void require_same_weights(Group& group, const Gradients& gradients, const ArrayView& weights,
                          std::size_t step);

}  // namespace lockstep::sync
