#include "engine/onednn/kernels/tile_kernels.inl"

namespace lockstep::internal::engine::onednn {

const TileKernels& plain_tile_kernels() {
  static const TileKernels kernels{"plain", forward, backward_data, backward_weights};
  return kernels;
}

}  // namespace lockstep::internal::engine::onednn
