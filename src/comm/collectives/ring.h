// ring: the ranks form a circle; each sends to its right neighbour and receives from its left.
//
// The array is cut into W chunks. In W−1 steps of scatter-reduce every rank passes a chunk on and
// adds the one that comes in, after which rank r owns the finished chunk r+1. In W−1 steps of
// all-gather the finished chunks travel around once more. Each rank sends 2(W−1)/W of the array,
// the least possible.
//
// The order in which a chunk's numbers are added starts at a different rank for each chunk: results
// are the same on all ranks, but differ in rounding from the other algorithms.
#pragma once

#include "comm/transport.h"

namespace lockstep::comm {

/// A chunk travels in segments of at most so many bytes: long enough to hide what a message costs,
/// short enough that what came in is still in the cache when it is added.
constexpr std::size_t kRingSegmentBytes = 256 * 1024;
/// Segments that a rank is ready to receive before it needs them. A sender over a network may wait
/// to hear that its peer is ready, and what tells it queues behind data.
constexpr std::size_t kRingWindow = 8;

void ring_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline);

/// The two halves on their own. `all` has as many equal chunks as there are ranks.
void ring_reduce_scatter(Transport& transport, ConstArrayView all, ArrayView mine, ReduceOp op,
                         const Deadline& deadline);
void ring_all_gather(Transport& transport, ConstArrayView mine, ArrayView all,
                     const Deadline& deadline);

}  // namespace lockstep::comm
