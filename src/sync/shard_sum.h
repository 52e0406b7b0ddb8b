// ShardSum: adds the gradients of the shards that a worker hosts along the fixed tree, while its
// backward passes run one after another. It works like a binary counter: an odd shard's gradient is
// added to its left neighbour's, their sum to the neighbouring pair's, and so on for every trailing
// one bit of the shard's number. A sum without a right neighbour yet is stored, one array per
// level. After a worker's last shard, the gradients hold the sum over all its shards.
//
// Thread safety: none; called by the thread that runs backward.
#pragma once

#include "sync/gradients.h"

namespace lockstep::internal::sync {

class ShardSum {
 public:
  /// REQUIRES: `shards` is a power of two; the gradients outlive this object.
  ShardSum(const Gradients& gradients, int shards);

  /// Call before the backward of the worker's shard `shard`, counted from 0. REQUIRES: shards come
  /// in order.
  void begin(int shard) { shard_ = static_cast<unsigned>(shard); }

  /// Adds this shard's gradient of the parameter. Returns true for the last shard: the gradients
  /// then hold the sum over all shards.
  bool add(std::size_t parameter);

 private:
  ArrayView partial_sum(unsigned level, std::size_t parameter);

  const Gradients& gradients_;
  const unsigned shards_;
  unsigned shard_ = 0;
  std::vector<std::byte> partial_sums_;  ///< one flat array per level, laid out like the gradients
};

}  // namespace lockstep::internal::sync
