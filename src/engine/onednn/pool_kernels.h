// Max pooling over windows of 2×2 on maps whose channels lie in blocks: the inner loops, compiled
// once for each vector unit. oneDNN's own keep four times as much for each choice and take several
// times as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep {
enum class VectorUnit;  // of base/vector_unit.h, whose inline functions are not for all units
}

namespace lockstep::engine::onednn {

/// Of what comes out. A plane is an image's map of one block of channels: rows of pixels, each of
/// which has a value for every channel of the block.
struct PooledShape {
  std::size_t planes = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t block = 16;  ///< 8 or 16 channels
};

struct PoolKernels {
  std::string_view name;  ///< "avx512", "avx2" or "plain"

  /// The largest of each window; in `choices`, if given, which of the four it was, row by row: the
  /// first of those that are equal.
  void (*forward)(const float* input, float* output, std::uint8_t* choices,
                  const PooledShape& shape);

  /// Each gradient goes to what was chosen, zeros to the other three.
  void (*backward)(const float* gradient, const std::uint8_t* choices, float* input_gradient,
                   const PooledShape& shape);
};

/// The best that this machine can run. All give the same bits.
const PoolKernels& pool_kernels();

// One a vector unit; calling one that the machine lacks ends the process.
const PoolKernels& pool_kernels_for(VectorUnit unit);
const PoolKernels& plain_pool_kernels();
const PoolKernels& avx2_pool_kernels();
const PoolKernels& avx512_pool_kernels();

}  // namespace lockstep::engine::onednn
