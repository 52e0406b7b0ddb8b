// The passes of tile_kernels.h, for each kind of tile.
#include "engine/onednn/kernels/tile_convolve.inl"
#include "engine/onednn/kernels/tile_gradients.inl"

namespace lockstep::internal::engine::onednn {

namespace {

/// Calls body with the kind of tile for this map.
template <typename Body>
void with_tile(const TileShape& shape, const Body& body) {
  if (shape.height == 2)
    body(Tile<kWholeMapOf2>());
  else if (shape.height == 4 && shape.width == 4)
    body(Tile<kWholeMapOf4>());
  else
    body(Tile<kTileOf4>());
}

Side in_of(const TileShape& shape) {
  return {shape.channels_in / kBlock, kWeightsBlock};
}
Side out_of(const TileShape& shape) {
  return {shape.channels_out / kBlock, shape.channels_in / kBlock * kWeightsBlock};
}

template <typename Pass>
void convolve(const float* input, const float* weights, const float* bias, float* output,
              float* scratch, const TileShape& shape, const Side& from, const Side& to) {
  const std::size_t plane = shape.height * shape.width * kBlock;  // floats in a block of channels
  const Parts parts(Pass::kPoints, grid_of(shape), from.blocks * kBlock, shape.threads);
  const int threads = static_cast<int>(shape.threads);
  auto part = [&](std::size_t number, float* own) {
    const std::size_t image = number * parts.grid.images;
    Grid grid = parts.grid;
    grid.images = std::min(grid.images, shape.batch - image);
    return Convolve<Pass>{input + image * from.blocks * plane,
                          weights,
                          bias,
                          output + image * to.blocks * plane,
                          own,
                          grid,
                          from,
                          to};
  };
  if (!parts.apart) {
    for (std::size_t i = 0; i < parts.count; ++i) part(i, scratch).compute_with(threads);
    return;
  }
  const ConvolveScratch sizes(Pass::kPoints, parts.grid, from.blocks * kBlock);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t i = 0; i < parts.count; ++i)
    part(i,
         scratch + static_cast<std::size_t>(omp_get_thread_num()) * (sizes.windows + sizes.thread))
        .compute_alone();
}

void forward(const float* input, const float* weights, const float* bias, float* output,
             float* scratch, const TileShape& shape) {
  with_tile(shape, [&]<typename Kind>(Kind) {
    convolve<Forward<Kind>>(input, weights, bias, output, scratch, shape, in_of(shape),
                            out_of(shape));
  });
}

void backward_data(const float* gradient, const float* weights, float* input_gradient,
                   float* scratch, const TileShape& shape) {
  with_tile(shape, [&]<typename Kind>(Kind) {
    convolve<BackwardData<Kind>>(gradient, weights, nullptr, input_gradient, scratch, shape,
                                 out_of(shape), in_of(shape));
  });
}

template <typename Kind>
void find_gradients(const float* input, const float* gradient, float* weights_gradient,
                    float* bias_gradient, float* scratch, const TileShape& shape) {
  const std::size_t pixels = shape.height * shape.width;
  const std::size_t in = shape.channels_in / kBlock;
  const std::size_t out = shape.channels_out / kBlock;
  const Grid most = differentiated_at_once(Kind::kPoints, grid_of(shape));
  const ThreadGrid slices(shape.threads);
  const GradientScratch sizes(Kind::kPoints, most, divided_up(in, slices.in));
  const int threads = static_cast<int>(shape.threads);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t i = 0; i < shape.threads; ++i)
    for (std::size_t image = 0; image < shape.batch; image += most.images) {
      Grid grid = most;
      grid.images = std::min(grid.images, shape.batch - image);
      const FindGradients<Kind> part{input + image * shape.channels_in * pixels,
                                     gradient + image * shape.channels_out * pixels,
                                     weights_gradient,
                                     bias_gradient,
                                     scratch + i * sizes.thread,
                                     grid,
                                     in,
                                     out,
                                     /*adds=*/image > 0,
                                     Range(in, i % slices.in, slices.in),
                                     Range(groups_of(out * kBlock), i / slices.in, slices.out)};
      part.compute();
    }
}

void backward_weights(const float* input, const float* gradient, float* weights_gradient,
                      float* bias_gradient, float* scratch, const TileShape& shape) {
  with_tile(shape, [&]<typename Kind>(Kind) {
    find_gradients<Kind>(input, gradient, weights_gradient, bias_gradient, scratch, shape);
  });
}

}  // namespace

}  // namespace lockstep::internal::engine::onednn
