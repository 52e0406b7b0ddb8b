// halving-doubling (Rabenseifner): an all-reduce in 2 lg W steps that sends no more than a ring.
//
// Halving: in step k a rank exchanges half of its range with the rank whose number differs in bit
// k, keeps and adds up the other half; after lg W steps every rank has the sum of a W-th. Doubling:
// the same partners in reverse order exchange what they have, until everyone has all. Neighbours
// come first, so that the order of addition is that of reduce_tree.
//
// With W not a power of two, the ranks beyond the largest power P hand their array to rank − P
// first, and get the result from it last: two more steps.
#pragma once

#include "comm/transport.h"

namespace lockstep::comm {

void halving_doubling_all_reduce(Transport& transport, ArrayView data, ReduceOp op,
                                 const Deadline& deadline);

/// The first half on its own, for powers of two: lg W steps that send n(W−1)/W bytes. For other
/// numbers of ranks all of the above, of which each rank keeps its part.
void halving_reduce_scatter(Transport& transport, ConstArrayView all, ArrayView mine, ReduceOp op,
                            const Deadline& deadline);

}  // namespace lockstep::comm
