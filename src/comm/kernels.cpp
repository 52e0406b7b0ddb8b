#include "comm/kernels.h"

#include "base/vector_unit.h"

namespace lockstep::internal::comm {

const Kernels& kernels_for(VectorUnit unit) {
  return version_for(unit, plain_kernels, avx2_kernels, avx512_kernels)();
}

const Kernels& kernels() {
  static const Kernels& best = kernels_for(vector_unit());
  return best;
}

}  // namespace lockstep::internal::comm
