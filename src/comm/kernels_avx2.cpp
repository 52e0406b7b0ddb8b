#include "comm/kernels.inl"

namespace lockstep::internal::comm {

const Kernels& avx2_kernels() {
  static const Kernels kernels{"avx2", combine, scale, run_pass};
  return kernels;
}

}  // namespace lockstep::internal::comm
