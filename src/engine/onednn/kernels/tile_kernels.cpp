#include "engine/onednn/kernels/tile_kernels.h"

#include "base/vector_unit.h"
#include "engine/onednn/kernels/tile_matrices.h"
#include "engine/onednn/kernels/tile_stack.h"

namespace lockstep::internal::engine::onednn {

namespace {

std::size_t points_of(const TileShape& shape) {
  return shape.height == 2 ? Tile<kWholeMapOf2>::kPoints : Tile<kTileOf4>::kPoints;
}

std::size_t scratch_of_convolve(const TileShape& shape, std::size_t channels) {
  const std::size_t points = points_of(shape);
  const Parts parts(points, grid_of(shape), channels, shape.threads);
  const ConvolveScratch sizes(points, parts.grid, channels);
  return (parts.apart ? shape.threads : 1) * sizes.windows + shape.threads * sizes.thread;
}

}  // namespace

std::size_t scratch_of_forward(const TileShape& shape) {
  return scratch_of_convolve(shape, shape.channels_in);
}

std::size_t scratch_of_backward_data(const TileShape& shape) {
  return scratch_of_convolve(shape, shape.channels_out);
}

std::size_t scratch_of_backward_weights(const TileShape& shape) {
  const Grid grid = differentiated_at_once(points_of(shape), grid_of(shape));
  const std::size_t blocks = divided_up(shape.channels_in / kBlock, ThreadGrid(shape.threads).in);
  return shape.threads * GradientScratch(points_of(shape), grid, blocks).thread;
}

const TileKernels& tile_kernels() {
  static const TileKernels& best =
      version_for(vector_unit(), plain_tile_kernels, plain_tile_kernels, avx512_tile_kernels)();
  return best;
}

}  // namespace lockstep::internal::engine::onednn
