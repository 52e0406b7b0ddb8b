#include "sync/shard_sum.h"

#include "base/check.h"
#include "comm/reduce.h"

#include <bit>
#include <cstring>

namespace lockstep::internal::sync {

ShardSum::ShardSum(const Gradients& gradients, int shards)
    : gradients_(gradients), shards_(static_cast<unsigned>(shards)) {
  LOCKSTEP_CHECK(std::has_single_bit(shards_), "the number of shards is a power of two");
  const auto levels = static_cast<std::size_t>(std::countr_zero(shards_));
  partial_sums_.resize(levels * gradients.layout().bytes());
}

ArrayView ShardSum::partial_sum(unsigned level, std::size_t parameter) {
  const Layout& layout = gradients_.layout();
  const ArrayView all(partial_sums_.data() + level * layout.bytes(), layout.size(), layout.type());
  const Slot& slot = layout.slots()[parameter];
  return all.slice(slot.begin, slot.count);
}

bool ShardSum::add(std::size_t parameter) {
  const ArrayView mine = gradients_.of(parameter);
  const auto neighbours = static_cast<unsigned>(std::countr_one(shard_));
  for (unsigned level = 0; level < neighbours; ++level)
    comm::reduce_into(mine, partial_sum(level, parameter).data, ReduceOp::sum);
  if (shard_ + 1 == shards_) return true;
  std::memcpy(partial_sum(neighbours, parameter).data, mine.data, mine.bytes());
  return false;
}

}  // namespace lockstep::internal::sync
