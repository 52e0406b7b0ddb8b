// Optimizer: updates weights from gradients, on flat ranges. It does not depend on layers, and uses
// only the position of tensors (tensor_range.h), so that every engine and sync method can use it.
//
// A training step is one begin_step(), then step() over all elements, at once or in parts.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::internal::optim {

/// One kind of state that an optimizer keeps between steps: one value for each weight.
struct OptimizerState {
  std::string name;  ///< for example "momentum"
  ArrayView values;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// The number of elements that it updates.
  virtual std::size_t size() const = 0;

  /// Whether each element's update depends on that element alone. If not (LARS, LAMB), a range
  /// given to step() must consist of whole tensors.
  virtual bool elementwise() const { return true; }

  /// Begins a training step: call it once before the step() calls that update each element once.
  /// Optimizers that count steps count these calls.
  void begin_step() { ++steps_; }

  /// Updates elements [begin, begin + count). REQUIRES: begin_step() was called, and no element is
  /// updated twice in a training step.
  virtual void step(std::size_t begin, std::size_t count) = 0;

  /// Sets the rate of the following steps. Throws UsageError unless it is 0 or more.
  virtual void set_learning_rate(double rate) = 0;

  /// The state's memory, to be saved and restored together with steps().
  virtual std::vector<OptimizerState> state() = 0;

  /// Training steps begun so far.
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps) { steps_ = steps; }

 private:
  std::uint64_t steps_ = 0;
};

}  // namespace lockstep::internal::optim
