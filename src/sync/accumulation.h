// Accumulation: sums the gradients of the micro-batches that a shard's slice of a batch is computed
// in. Nothing is sent before the last micro-batch: until then the sum is kept in a separate array.
//
// Thread safety: none; called by the thread that runs backward.
#pragma once

#include "sync/gradients.h"

#include <cstddef>
#include <vector>

namespace lockstep::internal::sync {

class Accumulation {
 public:
  /// `parts` is the number of micro-batches. REQUIRES: parts >= 1; the gradients outlive this
  /// object.
  Accumulation(const Gradients& gradients, int parts);

  /// Call before the backward of micro-batch `part`, counted from 0. REQUIRES: parts come in order.
  void begin(int part) { part_ = part; }

  /// Adds this micro-batch's gradient of the parameter to the sum. Returns true for the last
  /// micro-batch: the gradients then hold the sum over all of them.
  bool add(std::size_t parameter);

 private:
  const Gradients& gradients_;
  const int parts_;
  int part_ = 0;
  std::vector<std::byte> sum_;  ///< laid out like the gradients; empty for a single micro-batch
};

}  // namespace lockstep::internal::sync
