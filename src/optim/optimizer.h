// Optimizer: turns gradients into an update of the weights, on flat ranges. It knows nothing of
// tensors or layers, so that every engine and every sync method can share it.
#pragma once

#include <cstddef>

namespace lockstep::optim {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Number of elements it was made for.
  virtual std::size_t size() const = 0;

  /// Updates elements [begin, begin + count). Each element takes part in exactly one step at a
  /// time.
  virtual void step(std::size_t begin, std::size_t count) = 0;
};

}  // namespace lockstep::optim
