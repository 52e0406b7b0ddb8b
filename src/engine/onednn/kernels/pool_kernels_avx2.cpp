#include "engine/onednn/kernels/pool_kernels.inl"

namespace lockstep::internal::engine::onednn {

const PoolKernels& avx2_pool_kernels() {
  static const PoolKernels kernels{"avx2", forward, backward};
  return kernels;
}

}  // namespace lockstep::internal::engine::onednn
