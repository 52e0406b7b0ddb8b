// Accumulation: the gradients of the parts that a shard's share of a batch is computed in, added up
// one after another. Nothing is sent before the last part: until then the sum waits in an array of
// its own.
#pragma once

#include "sync/gradients.h"

#include <cstddef>
#include <vector>

namespace lockstep::sync {

class Accumulation {
 public:
  /// Of so many parts, 1 or more. The gradients must outlive it.
  Accumulation(const Gradients& gradients, int parts);

  /// The backward of the `part`-th part, from 0, begins: each in its turn.
  void begin(int part) { part_ = part; }

  /// This part's gradient of the parameter lies among the gradients. Returns whether it was the
  /// last part's: then what lies there now is the sum over all parts.
  bool add(std::size_t parameter);

 private:
  const Gradients& gradients_;
  const int parts_;
  int part_ = 0;
  std::vector<std::byte> sum_;  ///< laid out like the gradients; empty where there is one part
};

}  // namespace lockstep::sync
