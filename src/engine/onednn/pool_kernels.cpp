#include "engine/onednn/pool_kernels.h"

namespace lockstep::engine::onednn {

const PoolKernels& pool_kernels() {
  static const PoolKernels& best = []() -> const PoolKernels& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      return avx512_pool_kernels();
    if (__builtin_cpu_supports("avx2")) return avx2_pool_kernels();
    return plain_pool_kernels();
  }();
  return best;
}

}  // namespace lockstep::engine::onednn
