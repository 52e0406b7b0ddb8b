#include "comm/kernels.inl"

namespace lockstep::comm {

const Kernels& avx512_kernels() {
  static const Kernels kernels{"avx512", combine, scale};
  return kernels;
}

}  // namespace lockstep::comm
