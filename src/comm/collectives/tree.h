// tree: a binomial tree over the ranks. In step k of the reduction every rank whose number has bit
// k as its lowest set bit sends what it has to the rank 2^k below it, which adds it and goes on;
// after ⌈lg W⌉ steps rank 0 has the sum. Broadcast goes down the same tree. Few steps, but each
// carries the whole array: for short ones.
//
// A rank always adds the block of ranks above it to its own block: ((0+1)+(2+3))+…, the order of
// reduce_tree.
#pragma once

#include "comm/transport.h"

namespace lockstep::comm {

void tree_broadcast(Transport& transport, ArrayView data, int root, const Deadline& deadline);

/// Reduces to rank 0 along the tree, then hands the result to root. `data` is scratch on other
/// ranks.
void tree_reduce(Transport& transport, ArrayView data, ReduceOp op, int root,
                 const Deadline& deadline);

void tree_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline);

}  // namespace lockstep::comm
