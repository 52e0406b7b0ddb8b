#include "engine/onednn/norm_kernels.inl"

namespace lockstep::engine::onednn {

const NormKernels& plain_norm_kernels() {
  static const NormKernels kernels{"plain", moments, normalise, gradient_sums, input_gradient};
  return kernels;
}

}  // namespace lockstep::engine::onednn
