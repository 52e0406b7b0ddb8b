// ShardSum: the gradients of the shards that a worker hosts, added along the fixed tree while its
// backward passes run one after another. Works like a binary counter: after an odd shard what lies
// in the gradients is added to its neighbour's, and the sum to the neighbouring pair's, as often as
// the shard's number ends in ones; what has no neighbour yet is put aside, one array a level. The
// last shard of a worker leaves the sum of all where the gradients are.
#pragma once

#include "sync/gradients.h"

namespace lockstep::sync {

class ShardSum {
 public:
  /// For so many shards, a power of two. The gradients must outlive it.
  ShardSum(const Gradients& gradients, int shards);

  /// The backward of the worker's `shard`-th shard, from 0, begins: each in its turn.
  void begin(int shard) { shard_ = static_cast<unsigned>(shard); }

  /// This shard's gradient of the parameter lies among the gradients. Returns whether it was the
  /// last shard's: then what lies there now is the sum over all shards.
  bool add(std::size_t parameter);

 private:
  ArrayView aside(unsigned level, std::size_t parameter);

  const Gradients& gradients_;
  const unsigned shards_;
  unsigned shard_ = 0;
  std::vector<std::byte> asides_;  ///< one flat array a level, laid out like the gradients
};

}  // namespace lockstep::sync
