#include "engine/onednn/kernels/norm_kernels.inl"

namespace lockstep::internal::engine::onednn {

const NormKernels& plain_norm_kernels() {
  static const NormKernels kernels{"plain", deviation_sums, normalise, gradient_sums,
                                   input_gradient};
  return kernels;
}

}  // namespace lockstep::internal::engine::onednn
