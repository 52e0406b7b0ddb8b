#include "engine/onednn/kernels/norm_kernels.h"

#include "base/vector_unit.h"

namespace lockstep::internal::engine::onednn {

const NormKernels& norm_kernels_for(VectorUnit unit) {
  return version_for(unit, plain_norm_kernels, avx2_norm_kernels, avx512_norm_kernels)();
}

const NormKernels& norm_kernels() {
  static const NormKernels& best = norm_kernels_for(vector_unit());
  return best;
}

}  // namespace lockstep::internal::engine::onednn
