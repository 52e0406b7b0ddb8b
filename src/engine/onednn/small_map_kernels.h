// Convolutions of 3×3 with stride 1 and padding 1 on maps of 2×2 or 4×4, as products of matrices:
// the inner loops, compiled once for each vector unit. Channels lie in blocks of 16, as oneDNN's
// nChw16c and OIhw16i16o have them.
//
// On so small a map the weights are most of the work's memory. Each pass transforms them a panel at
// a time, multiplies while the panel is in the cache, and never writes them back.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::engine::onednn {

struct SmallMapShape {
  std::size_t batch = 1;
  std::size_t channels_in = 16;   ///< a multiple of 16
  std::size_t channels_out = 16;  ///< a multiple of 16
  std::size_t map = 2;            ///< height and width: 2 or 4
  std::size_t threads = 1;        ///< as many at most. The result is the same with any number
};

/// Scratch memory is the caller's: as many floats as said below, best at a multiple of 64 bytes.
/// What is in it before a pass does not matter.
struct SmallMapKernels {
  std::string_view name;  ///< "avx512" or "plain"

  /// `bias` may be null.
  void (*forward)(const float* input, const float* weights, const float* bias, float* output,
                  float* scratch, const SmallMapShape& shape);
  void (*backward_data)(const float* gradient, const float* weights, float* input_gradient,
                        float* scratch, const SmallMapShape& shape);
  /// `bias_gradient` may be null.
  void (*backward_weights)(const float* input, const float* gradient, float* weights_gradient,
                           float* bias_gradient, float* scratch, const SmallMapShape& shape);
};

/// Floats of scratch memory.
std::size_t scratch_of_forward(const SmallMapShape& shape);
std::size_t scratch_of_backward_data(const SmallMapShape& shape);
std::size_t scratch_of_backward_weights(const SmallMapShape& shape);

/// The best that this machine can run.
const SmallMapKernels& small_map_kernels();

// One a vector unit; calling one that the machine lacks ends the process.
const SmallMapKernels& plain_small_map_kernels();
const SmallMapKernels& avx512_small_map_kernels();

}  // namespace lockstep::engine::onednn
