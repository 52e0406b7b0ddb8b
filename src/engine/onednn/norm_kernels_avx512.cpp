#include "engine/onednn/norm_kernels.inl"

namespace lockstep::engine::onednn {

const NormKernels& avx512_norm_kernels() {
  static const NormKernels kernels{"avx512", moments, normalise, gradient_sums, input_gradient};
  return kernels;
}

}  // namespace lockstep::engine::onednn
