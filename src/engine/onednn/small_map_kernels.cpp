#include "engine/onednn/small_map_kernels.h"

#include "base/vector_unit.h"
#include "engine/onednn/small_map_matrices.h"
#include "engine/onednn/small_map_stack.h"

namespace lockstep::engine::onednn {

namespace {

std::size_t points_of(const SmallMapShape& shape) {
  return shape.map == 2 ? SmallMap<2>::kPoints : SmallMap<4>::kPoints;
}

template <typename Scratch>
std::size_t floats(const SmallMapShape& shape, std::size_t channels) {
  const Scratch sizes(points_of(shape), shape.batch, channels);
  return sizes.maps + shape.threads * sizes.thread;
}

}  // namespace

std::size_t scratch_of_forward(const SmallMapShape& shape) {
  return floats<ConvolveScratch>(shape, shape.channels_in);
}

std::size_t scratch_of_backward_data(const SmallMapShape& shape) {
  return floats<ConvolveScratch>(shape, shape.channels_out);
}

std::size_t scratch_of_backward_weights(const SmallMapShape& shape) {
  return floats<GradientScratch>(shape, shape.channels_in);
}

const SmallMapKernels& small_map_kernels() {
  static const SmallMapKernels& best = version_for(
      vector_unit(), plain_small_map_kernels, plain_small_map_kernels, avx512_small_map_kernels)();
  return best;
}

}  // namespace lockstep::engine::onednn
