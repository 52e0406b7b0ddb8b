// 3×3 convolutions with stride 1 and padding 1 as matrix products for every tile of a map: the
// inner loops, compiled once for each vector unit. Channels are in blocks of 16, as in oneDNN's
// nChw16c and OIhw16i16o.
//
// On small maps, most of a pass's memory accesses are to weights. Each pass transforms them one
// panel at a time and multiplies while the panel is in the cache: transformed weights are never
// written to memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::internal::engine::onednn {

/// REQUIRES: channels are multiples of 16; maps are of 2×2, or their sides are multiples of 4.
struct TileShape {
  std::size_t batch = 1;
  std::size_t channels_in = 16;
  std::size_t channels_out = 16;
  std::size_t height = 2;
  std::size_t width = 2;
  std::size_t threads = 1;  ///< maximum number. The result does not depend on it
};

/// The caller provides scratch memory of the size below, preferably aligned to 64 bytes. Its
/// contents before a pass do not matter.
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

/// Sizes of scratch memory, in floats.
std::size_t scratch_of_forward(const TileShape& shape);
std::size_t scratch_of_backward_data(const TileShape& shape);
std::size_t scratch_of_backward_weights(const TileShape& shape);

/// The fastest kernels that this machine can run.
const TileKernels& tile_kernels();

// The kernels of each vector unit. REQUIRES: the machine has the unit.
const TileKernels& plain_tile_kernels();
const TileKernels& avx512_tile_kernels();

}  // namespace lockstep::internal::engine::onednn
