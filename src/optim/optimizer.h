// Optimizer: turns gradients into an update of the weights, on flat ranges. It knows nothing of
// tensors or layers, so that every engine and every sync method can share it.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::optim {

/// What an optimizer remembers of earlier steps: one value for each weight.
struct OptimizerState {
  std::string name;  ///< "momentum"
  ArrayView values;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Number of elements it was made for.
  virtual std::size_t size() const = 0;

  /// Updates elements [begin, begin + count). Each element takes part in exactly one step at a
  /// time.
  virtual void step(std::size_t begin, std::size_t count) = 0;

  /// Of the steps to come. Throws UsageError unless it is 0 or more.
  virtual void set_learning_rate(double rate) = 0;

  /// Where it lies, to be saved and restored.
  virtual std::vector<OptimizerState> state() = 0;
};

}  // namespace lockstep::optim
