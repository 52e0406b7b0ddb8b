#include "optim/tensor_range.h"

#include <algorithm>

namespace lockstep::internal::optim {

DecayRuns::DecayRuns(std::span<const TensorRange> tensors) {
  std::vector<TensorRange> sorted(tensors.begin(), tensors.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const TensorRange& a, const TensorRange& b) { return a.begin < b.begin; });
  runs_.push_back({0, sorted.empty() || sorted.front().decayed});
  for (const TensorRange& tensor : sorted)
    if (tensor.decayed != runs_.back().decayed) runs_.push_back({tensor.begin, tensor.decayed});
}

std::size_t DecayRuns::run_at(std::size_t element) const {
  const auto next =
      std::upper_bound(runs_.begin(), runs_.end(), element,
                       [](std::size_t place, const Run& run) { return place < run.begin; });
  return static_cast<std::size_t>(next - runs_.begin()) - 1;
}

}  // namespace lockstep::internal::optim
