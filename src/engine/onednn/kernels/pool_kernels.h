// The inner loops of max pooling with 2×2 windows on blocks of channels, compiled once for each
// vector unit. oneDNN's own store four times as many bytes per choice and take several times as
// long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep::internal {
enum class VectorUnit;  // in base/vector_unit.h, whose inline functions must not be compiled per
                        // unit
}

namespace lockstep::internal::engine::onednn {

/// The shape of the output. A plane is an image's map of one block of channels: rows of pixels,
/// each with a value for every channel of the block.
struct PooledShape {
  std::size_t planes = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t block = 16;  ///< 8 or 16 channels
};

struct PoolKernels {
  std::string_view name;  ///< "avx512", "avx2" or "plain"

  /// Writes the maximum of each window, and to `choices`, unless null, which of the four it was,
  /// row by row: the first of equal ones.
  void (*forward)(const float* input, float* output, std::uint8_t* choices,
                  const PooledShape& shape);

  /// Each gradient goes to the chosen input; the other three get zeros.
  void (*backward)(const float* gradient, const std::uint8_t* choices, float* input_gradient,
                   const PooledShape& shape);
};

/// The fastest kernels that this machine can run. All give the same bits.
const PoolKernels& pool_kernels();

// The kernels of each vector unit. REQUIRES: the machine has the unit.
const PoolKernels& pool_kernels_for(VectorUnit unit);
const PoolKernels& plain_pool_kernels();
const PoolKernels& avx2_pool_kernels();
const PoolKernels& avx512_pool_kernels();

}  // namespace lockstep::internal::engine::onednn
