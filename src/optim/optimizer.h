// Optimizer: turns gradients into an update of the weights, on flat ranges. It knows nothing of
// layers, and of tensors only where they lie (tensor_range.h), so that every engine and every sync
// method can share it.
//
// A training step is begin_step() and then step() over all elements, at once or in parts.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <cstdint>
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

  /// Whether each element's update depends on that element alone. If not (LARS, LAMB), a range
  /// given to step() must have whole tensors.
  virtual bool elementwise() const { return true; }

  /// A training step begins: once before the step() calls that update each element once, however
  /// many these are. Optimizers that count steps count these.
  void begin_step() { ++steps_; }

  /// Updates elements [begin, begin + count). Each element takes part in exactly one step at a
  /// time.
  virtual void step(std::size_t begin, std::size_t count) = 0;

  /// Of the steps to come. Throws UsageError unless it is 0 or more.
  virtual void set_learning_rate(double rate) = 0;

  /// Where it lies, to be saved and restored together with steps().
  virtual std::vector<OptimizerState> state() = 0;

  /// Training steps begun so far.
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps) { steps_ = steps; }

 private:
  std::uint64_t steps_ = 0;
};

}  // namespace lockstep::optim
