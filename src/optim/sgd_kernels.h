// The inner loops of SGD, compiled once for each vector unit: every value is read once and written
// once, however many of momentum, weight decay and Nesterov's step are wanted.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep {
enum class VectorUnit;  // of base/vector_unit.h, whose inline functions are not for all units
}

namespace lockstep::optim {

/// One step over `count` elements. The arrays do not overlap.
template <typename T>
struct SgdStep {
  T* weights = nullptr;
  const T* gradients = nullptr;
  T* velocity = nullptr;  ///< null without momentum
  std::size_t count = 0;
  T rate = 0;
  T momentum = 0;
  T decay = 0;
  bool nesterov = false;  ///< only with momentum
};

struct SgdKernels {
  std::string_view name;  ///< "avx512", "avx2" or "plain"
  void (*float32)(const SgdStep<float>& step);
  void (*float64)(const SgdStep<double>& step);
};

/// The best that this machine can run. All give the same bits.
const SgdKernels& sgd_kernels();

// One a vector unit; calling one that the machine lacks ends the process.
const SgdKernels& sgd_kernels_for(VectorUnit unit);
const SgdKernels& plain_sgd_kernels();
const SgdKernels& avx2_sgd_kernels();
const SgdKernels& avx512_sgd_kernels();

}  // namespace lockstep::optim
