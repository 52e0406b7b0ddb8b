// tree: a binomial tree over the ranks. In step k of the reduction, every rank whose lowest set bit
// is k sends its partial sum to the rank 2^k below it, which adds it to its own; after ⌈lg W⌉ steps
// rank 0 has the sum. A broadcast goes down the same tree. The tree has few steps, but each carries
// the whole array, so it suits short arrays.
//
// A rank always adds the block of ranks above it to its own block: ((0+1)+(2+3))+…, the order of
// reduce_tree.
#pragma once

#include "comm/transport.h"

namespace lockstep::internal::comm {

void tree_broadcast(Transport& transport, ArrayView data, int root, const Deadline& deadline);

/// Reduces to rank 0 along the tree, then sends the result to the root. `data` is scratch on other
/// ranks.
void tree_reduce(Transport& transport, ArrayView data, ReduceOp op, int root,
                 const Deadline& deadline);

void tree_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline);

}  // namespace lockstep::internal::comm
