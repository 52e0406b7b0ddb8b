// The inner loops of SGD, compiled once for each vector unit. Every value is read once and written
// once, with or without momentum, weight decay and Nesterov momentum.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::internal {
enum class VectorUnit;  // in base/vector_unit.h, whose inline functions must not be compiled per
                        // unit
}

namespace lockstep::internal::optim {

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

/// The fastest kernels that this machine can run. All give the same bits.
const SgdKernels& sgd_kernels();

// The kernels of each vector unit. REQUIRES: the machine has the unit.
const SgdKernels& sgd_kernels_for(VectorUnit unit);
const SgdKernels& plain_sgd_kernels();
const SgdKernels& avx2_sgd_kernels();
const SgdKernels& avx512_sgd_kernels();

}  // namespace lockstep::internal::optim
