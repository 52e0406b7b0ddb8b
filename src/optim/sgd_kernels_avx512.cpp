#include "optim/sgd_kernels.inl"

namespace lockstep::internal::optim {

const SgdKernels& avx512_sgd_kernels() {
  static const SgdKernels kernels{"avx512", run<float>, run<double>};
  return kernels;
}

}  // namespace lockstep::internal::optim
