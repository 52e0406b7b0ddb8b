#include "engine/onednn/kernels/norm_kernels.inl"

namespace lockstep::internal::engine::onednn {

const NormKernels& avx512_norm_kernels() {
  static const NormKernels kernels{"avx512", deviation_sums, normalise, gradient_sums,
                                   input_gradient};
  return kernels;
}

}  // namespace lockstep::internal::engine::onednn
