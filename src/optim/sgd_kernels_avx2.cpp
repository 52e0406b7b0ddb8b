#include "optim/sgd_kernels.inl"

namespace lockstep::internal::optim {

const SgdKernels& avx2_sgd_kernels() {
  static const SgdKernels kernels{"avx2", run<float>, run<double>};
  return kernels;
}

}  // namespace lockstep::internal::optim
