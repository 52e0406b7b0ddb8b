// The average that rank 0 computes for gather-scatter, p2p and coordinator.
#pragma once

#include "comm/reduce.h"
#include "sync/gradients.h"

#include <vector>

namespace lockstep::internal::sync {

/// `parts` holds one array for each rank, one after another. Replaces each by the average, or sum,
/// of all. Adds along the fixed tree, so the result equals that of `direct` to the bit.
inline void reduce_parts(ArrayView parts, int ranks, ReduceOp op) {
  const std::size_t count = parts.count / static_cast<std::size_t>(ranks);
  std::vector<void*> arrays;
  for (int rank = 0; rank < ranks; ++rank)
    arrays.push_back(parts.slice(static_cast<std::size_t>(rank) * count, count).data);
  comm::reduce_tree(arrays, arrays, count, parts.type, op);
}

/// The number of elements of the largest parameter.
inline std::size_t largest(const Gradients& gradients) {
  std::size_t largest = 0;
  for (const Parameter& parameter : gradients.parameters())
    largest = std::max(largest, parameter.count);
  return largest;
}

}  // namespace lockstep::internal::sync
