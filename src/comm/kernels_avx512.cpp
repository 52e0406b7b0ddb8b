#include "comm/kernels.inl"

namespace lockstep::internal::comm {

const Kernels& avx512_kernels() {
  static const Kernels kernels{"avx512", combine, scale, run_pass};
  return kernels;
}

}  // namespace lockstep::internal::comm
