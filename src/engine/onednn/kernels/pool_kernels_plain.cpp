#include "engine/onednn/kernels/pool_kernels.inl"

namespace lockstep::internal::engine::onednn {

const PoolKernels& plain_pool_kernels() {
  static const PoolKernels kernels{"plain", forward, backward};
  return kernels;
}

}  // namespace lockstep::internal::engine::onednn
