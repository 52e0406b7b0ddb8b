// FlatOptimizer: the arrays and the learning rate that all optimizers have in common.
#pragma once

#include "base/check.h"
#include "optim/optimizer.h"
#include "optim/option_checks.h"
#include "optim/tensor_range.h"

#include <span>
#include <vector>

namespace lockstep::internal::optim {

/// The arrays that an optimizer works on. They belong to the caller and must outlive the optimizer.
/// REQUIRES: they have one size, and the tensors lie within them without overlap.
template <typename T>
struct Flat {
  std::span<T> weights;
  std::span<const T> gradients;
  std::vector<TensorRange> tensors = {};  ///< in any order; empty for one tensor with all elements
};

template <typename T>
class FlatOptimizer : public Optimizer {
 public:
  FlatOptimizer(Flat<T> flat, double rate) : flat_(std::move(flat)), rate_(rate) {
    require_learning_rate(rate);
    LOCKSTEP_CHECK(flat_.weights.size() == flat_.gradients.size(), "{} weights, {} gradients",
                   flat_.weights.size(), flat_.gradients.size());
    if (flat_.tensors.empty()) flat_.tensors.push_back({0, flat_.weights.size()});
  }

  std::size_t size() const override { return flat_.weights.size(); }

  void set_learning_rate(double rate) override {
    require_learning_rate(rate);
    rate_ = rate;
  }

 protected:
  double rate() const { return rate_; }
  T* weights() const { return flat_.weights.data(); }
  const T* gradients() const { return flat_.gradients.data(); }
  const std::vector<TensorRange>& tensors() const { return flat_.tensors; }

  void require_inside(std::size_t begin, std::size_t count) const {
    LOCKSTEP_CHECK(begin + count <= size(), "a step over {} + {} of {}", begin, count, size());
  }

  /// Calls update(tensor) for all tensors in the range.
  template <typename Update>
  void for_tensors(std::size_t begin, std::size_t count, Update update) const {
    require_inside(begin, count);
    for (const TensorRange& tensor : flat_.tensors) {
      const std::size_t end = tensor.begin + tensor.count;
      if (end <= begin || begin + count <= tensor.begin) continue;
      LOCKSTEP_CHECK(begin <= tensor.begin && end <= begin + count,
                     "a step over {} + {} cuts the tensor at {}", begin, count, tensor.begin);
      update(tensor);
    }
  }

 private:
  Flat<T> flat_;
  double rate_;
};

}  // namespace lockstep::internal::optim
