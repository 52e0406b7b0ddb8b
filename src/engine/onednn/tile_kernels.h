// Convolutions of 3×3 with stride 1 and padding 1 as products of matrices, for every tile of a map:
// the inner loops, compiled once for each vector unit. Channels lie in blocks of 16, as oneDNN's
// nChw16c and OIhw16i16o have them.
//
// On small maps the weights are most of the memory that a pass touches. Each pass transforms them a
// panel at a time and multiplies while the panel is in the cache: transformed weights are never
// written to memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::engine::onednn {

/// REQUIRES: channels are multiples of 16; maps are of 2×2, or their sides are multiples of 4.
struct TileShape {
  std::size_t batch = 1;
  std::size_t channels_in = 16;
  std::size_t channels_out = 16;
  std::size_t height = 2;
  std::size_t width = 2;
  std::size_t threads = 1;  ///< as many at most. The result is the same with any number
};

/// Scratch memory is the caller's: as many floats as said below, best at a multiple of 64 bytes.
/// What is in it before a pass does not matter.
struct TileKernels {
  std::string_view name;  ///< "avx512" or "plain"

  /// `bias` may be null.
  void (*forward)(const float* input, const float* weights, const float* bias, float* output,
                  float* scratch, const TileShape& shape);
  void (*backward_data)(const float* gradient, const float* weights, float* input_gradient,
                        float* scratch, const TileShape& shape);
  /// `bias_gradient` may be null.
  void (*backward_weights)(const float* input, const float* gradient, float* weights_gradient,
                           float* bias_gradient, float* scratch, const TileShape& shape);
};

/// Floats of scratch memory.
std::size_t scratch_of_forward(const TileShape& shape);
std::size_t scratch_of_backward_data(const TileShape& shape);
std::size_t scratch_of_backward_weights(const TileShape& shape);

/// The best that this machine can run.
const TileKernels& tile_kernels();

// One a vector unit; calling one that the machine lacks ends the process.
const TileKernels& plain_tile_kernels();
const TileKernels& avx512_tile_kernels();

}  // namespace lockstep::engine::onednn
