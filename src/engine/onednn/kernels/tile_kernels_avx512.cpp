#include "engine/onednn/kernels/tile_kernels.inl"

namespace lockstep::internal::engine::onednn {

const TileKernels& avx512_tile_kernels() {
  static const TileKernels kernels{"avx512", forward, backward_data, backward_weights};
  return kernels;
}

}  // namespace lockstep::internal::engine::onednn
