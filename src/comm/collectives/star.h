// star: one rank, the root, exchanges a message with each of the others in turn. The simplest
// algorithm and the slowest: the root moves (W−1) times the data while the others wait.
#pragma once

#include "comm/transport.h"

namespace lockstep::internal::comm {

void star_broadcast(Transport& transport, ArrayView data, int root, const Deadline& deadline);
void star_gather(Transport& transport, ConstArrayView mine, ArrayView all, int root,
                 const Deadline& deadline);
void star_scatter(Transport& transport, ConstArrayView all, ArrayView mine, int root,
                  const Deadline& deadline);

/// The root adds the others' arrays to its own in rank order. `data` is unchanged on other ranks.
void star_reduce(Transport& transport, ArrayView data, ReduceOp op, int root,
                 const Deadline& deadline);

/// Rank 0 adds the others' arrays to its own in rank order, then broadcasts.
void star_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline);

}  // namespace lockstep::internal::comm
