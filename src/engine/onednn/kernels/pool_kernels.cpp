#include "engine/onednn/kernels/pool_kernels.h"

#include "base/vector_unit.h"

namespace lockstep::internal::engine::onednn {

const PoolKernels& pool_kernels_for(VectorUnit unit) {
  return version_for(unit, plain_pool_kernels, avx2_pool_kernels, avx512_pool_kernels)();
}

const PoolKernels& pool_kernels() {
  static const PoolKernels& best = pool_kernels_for(vector_unit());
  return best;
}

}  // namespace lockstep::internal::engine::onednn
