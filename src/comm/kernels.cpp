#include "comm/kernels.h"

namespace lockstep::comm {

const Kernels& kernels() {
  static const Kernels& best = []() -> const Kernels& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      return avx512_kernels();
    if (__builtin_cpu_supports("avx2")) return avx2_kernels();
    return plain_kernels();
  }();
  return best;
}

}  // namespace lockstep::comm
