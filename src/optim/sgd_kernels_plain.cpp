#include "optim/sgd_kernels.inl"

namespace lockstep::internal::optim {

const SgdKernels& plain_sgd_kernels() {
  static const SgdKernels kernels{"plain", run<float>, run<double>};
  return kernels;
}

}  // namespace lockstep::internal::optim
