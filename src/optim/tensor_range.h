// TensorRange: the position of a parameter in the flat arrays of an optimizer, and whether it
// decays. Optimizers know nothing else of tensors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lockstep::internal::optim {

struct TensorRange {
  std::size_t begin = 0;
  std::size_t count = 0;
  /// Whether weight decay applies, and the layer-wise rates of LARS and LAMB. Biases and batch norm
  /// often train better without either.
  bool decayed = true;
};

/// Cuts ranges of elements where decay begins or ends. Elements outside all tensors count as part
/// of the tensor before them. Without tensors, everything decays.
class DecayRuns {
 public:
  /// Tensors may come in any order.
  explicit DecayRuns(std::span<const TensorRange> tensors);

  /// Calls run(begin, count, decayed) for each part of [begin, begin + count), in order.
  template <typename Run>
  void for_each(std::size_t begin, std::size_t count, Run run) const {
    const std::size_t end = begin + count;
    for (std::size_t i = run_at(begin); begin < end; ++i) {
      const bool last = i + 1 == runs_.size() || runs_[i + 1].begin >= end;
      const std::size_t until = last ? end : runs_[i + 1].begin;
      run(begin, until - begin, runs_[i].decayed);
      begin = until;
    }
  }

 private:
  struct Run {
    std::size_t begin;
    bool decayed;
  };

  /// The run that an element belongs to.
  std::size_t run_at(std::size_t element) const;

  std::vector<Run> runs_;  ///< neighbours differ; the first begins at 0
};

}  // namespace lockstep::internal::optim
