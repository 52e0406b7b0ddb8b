#include "sync/methods/gather_scatter.h"

#include "sync/methods/rank_zero_average.h"

namespace lockstep::internal::sync {

GatherScatter::GatherScatter(Group group, const Gradients& gradients, ReduceOp op)
    : group_(std::move(group)), gradients_(gradients), op_(op) {
  if (group_.rank() == 0)
    parts_.resize(largest(gradients) * size_of(gradients.layout().type()) *
                  static_cast<std::size_t>(group_.size()));
}

void GatherScatter::finish() {
  for (std::size_t parameter = 0; parameter < gradients_.parameters().size(); ++parameter) {
    const ArrayView mine = gradients_.of(parameter);
    const std::size_t count = mine.count * static_cast<std::size_t>(group_.size());
    const ArrayView parts(parts_.data(), count, mine.type);
    group_.gather(mine, parts);
    if (group_.rank() == 0) reduce_parts(parts, group_.size(), op_);
    group_.scatter(parts, mine);
  }
}

}  // namespace lockstep::internal::sync
