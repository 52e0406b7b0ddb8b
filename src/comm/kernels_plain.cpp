#include "comm/kernels.inl"

namespace lockstep::internal::comm {

const Kernels& plain_kernels() {
  static const Kernels kernels{"plain", combine, scale, run_pass};
  return kernels;
}

}  // namespace lockstep::internal::comm
