#include "engine/onednn/kernels/norm_kernels.inl"

namespace lockstep::internal::engine::onednn {

const NormKernels& avx2_norm_kernels() {
  static const NormKernels kernels{"avx2", deviation_sums, normalise, gradient_sums,
                                   input_gradient};
  return kernels;
}

}  // namespace lockstep::internal::engine::onednn
