// ring: the ranks form a circle; each sends to its right neighbour and receives from its left.
//
// The array is cut into W chunks. In W−1 steps of scatter-reduce every rank forwards a chunk and
// adds the one it receives; after that, rank r owns the finished chunk r+1. In W−1 steps of
// all-gather the finished chunks travel around the circle once. Each rank sends 2(W−1)/W of the
// array, the least possible.
//
// The additions of a chunk start at a different rank for each chunk. Results are the same on all
// ranks, but differ in rounding from those of the other algorithms.
#pragma once

#include "comm/transport.h"

namespace lockstep::internal::comm {

/// A chunk travels in segments of at most this many bytes: long enough to hide the cost of a
/// message, short enough that a received segment is still in the cache when it is added.
constexpr std::size_t kRingSegmentBytes = 256 * 1024;
/// Number of receives that a rank starts ahead of time. A sender over a network may wait for its
/// peer's ready notification, which queues behind data.
constexpr std::size_t kRingWindow = 8;

void ring_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline);

/// The two phases alone. `all` has one chunk per rank, all equally long.
void ring_reduce_scatter(Transport& transport, ConstArrayView all, ArrayView mine, ReduceOp op,
                         const Deadline& deadline);
void ring_all_gather(Transport& transport, ConstArrayView mine, ArrayView all,
                     const Deadline& deadline);

}  // namespace lockstep::internal::comm
