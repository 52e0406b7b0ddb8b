#include "sync/accumulation.h"

#include "comm/reduce.h"

#include <cstring>

namespace lockstep::internal::sync {

Accumulation::Accumulation(const Gradients& gradients, int parts)
    : gradients_(gradients), parts_(parts), sum_(parts > 1 ? gradients.layout().bytes() : 0) {}

bool Accumulation::add(std::size_t parameter) {
  if (parts_ == 1) return true;
  const Layout& layout = gradients_.layout();
  const ArrayView mine = gradients_.of(parameter);
  std::byte* sum = sum_.data() + layout.slots()[parameter].begin * size_of(layout.type());
  if (part_ > 0) comm::reduce_into(mine, sum, ReduceOp::sum);
  if (part_ + 1 == parts_) return true;
  std::memcpy(sum, mine.data, mine.bytes());
  return false;
}

}  // namespace lockstep::internal::sync
