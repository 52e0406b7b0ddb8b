#include "engine/onednn/small_map_kernels.inl"

namespace lockstep::engine::onednn {

const SmallMapKernels& avx512_small_map_kernels() {
  static const SmallMapKernels kernels{"avx512", forward, backward_data, backward_weights};
  return kernels;
}

}  // namespace lockstep::engine::onednn
