// TensorRange: where a parameter lies in the flat arrays that an optimizer works on, and how it is
// treated. Optimizers know no more of tensors than that.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lockstep::optim {

struct TensorRange {
  std::size_t begin = 0;
  std::size_t count = 0;
  /// Weight decay applies, and so do the layer-wise rates of LARS and LAMB. Biases and batch norm
  /// often do better without either.
  bool decayed = true;
};

/// Cuts ranges of elements where decay begins or ends. What lies in no tensor counts as the tensor
/// before it; without tensors all is decayed.
class DecayRuns {
 public:
  /// In any order.
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

  /// The one that an element belongs to.
  std::size_t run_at(std::size_t element) const;

  std::vector<Run> runs_;  ///< neighbours differ; the first begins with 0
};

}  // namespace lockstep::optim
