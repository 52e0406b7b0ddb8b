#include "optim/sgd_kernels.h"

#include "base/vector_unit.h"

namespace lockstep::internal::optim {

const SgdKernels& sgd_kernels_for(VectorUnit unit) {
  return version_for(unit, plain_sgd_kernels, avx2_sgd_kernels, avx512_sgd_kernels)();
}

const SgdKernels& sgd_kernels() {
  static const SgdKernels& best = sgd_kernels_for(vector_unit());
  return best;
}

}  // namespace lockstep::internal::optim
