// halving-doubling (Rabenseifner): an all-reduce in 2 lg W steps that sends as little as a ring.
//
// Halving: in step k a rank exchanges half of its range with the rank whose number differs in bit
// k, and adds the half it keeps; after lg W steps every rank has the sum of a W-th of the array.
// Doubling: the same partners in reverse order exchange their results until every rank has the
// whole array. Adjacent ranks are combined first, so the order of addition is that of reduce_tree.
//
// If W is not a power of two, each rank beyond the largest power P first sends its array to rank −
// P and receives the result from it at the end: two more steps.
#pragma once

#include "comm/transport.h"

namespace lockstep::internal::comm {

void halving_doubling_all_reduce(Transport& transport, ArrayView data, ReduceOp op,
                                 const Deadline& deadline);

/// The halving phase alone, for powers of two: lg W steps that send n(W−1)/W bytes. For other
/// numbers of ranks it runs the whole all-reduce, and each rank keeps its part.
void halving_reduce_scatter(Transport& transport, ConstArrayView all, ArrayView mine, ReduceOp op,
                            const Deadline& deadline);

}  // namespace lockstep::internal::comm
