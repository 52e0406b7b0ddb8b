// backward_weights: at every point, (channels of the input × tiles) · (tiles × channels of the
// output). The output's channels are the lanes, in their stored order.
#pragma once

#include "engine/onednn/kernels/tile_multiply.inl"

namespace lockstep::internal::engine::onednn {

namespace {

/// Slice `part` of `parts` equal slices of 0 … all.
struct Range {
  Range(std::size_t all, std::size_t part, std::size_t parts)
      : begin(all * part / parts), end(all * (part + 1) / parts) {}
  std::size_t begin;
  std::size_t end;
};

template <typename Kind>
struct FindGradients {
  static constexpr std::size_t kPoints = Kind::kPoints;

  const float* input;
  const float* gradient;
  float* weights_gradient;
  float* bias_gradient;
  float* scratch;
  Grid grid;
  std::size_t in;  ///< number of blocks of input channels
  std::size_t out;
  bool adds;   ///< whether to add to the existing gradients
  Range from;  ///< this thread's blocks of input channels
  Range to;    ///< this thread's groups of output channels

  GradientScratch sizes() const { return {kPoints, grid, from.end - from.begin}; }
  std::size_t rows() const { return grid.images * grid.tiles(); }
  Stack windows(std::size_t block) const {
    return {scratch + (block - from.begin) * sizes().block, rows(), kBlock};
  }
  float* weights_between(std::size_t in_block, std::size_t out_block) const {
    return weights_gradient + (out_block * in + in_block) * kWeightsBlock;
  }

  /// Transforms a square of a map with this corner to points; zeros outside of the map.
  template <const auto& matrix>
  [[gnu::flatten]] void transform_square(const float* map, std::size_t top, std::size_t left,
                                         float* points, std::size_t stride) const {
    constexpr std::size_t side = matrix[0].size();
    Vector from[side * side], to[kPoints];
    for_constants<side * side>([&](auto i) {
      const std::size_t y = top + i / side;
      const std::size_t x = left + i % side;
      const Vector none{};
      from[i] = y < grid.height && x < grid.width ? at(map + (y * grid.width + x) * kBlock) : none;
    });
    apply<matrix>(from, to);
    for_constants<kPoints>([&](auto i) { at(points + i * stride) = to[i]; });
  }

  /// Transforms all squares of a block of channels, in these lanes.
  template <const auto& matrix>
  void transform(const float* maps, std::size_t blocks, std::size_t block, std::size_t margin,
                 const Stack& points, std::size_t lane) const {
    for (std::size_t image = 0; image < grid.images; ++image)
      for (std::size_t tile = 0; tile < grid.tiles(); ++tile)
        transform_square<matrix>(
            maps + (image * blocks + block) * grid.height * grid.width * kBlock,
            grid.top(tile) - margin, grid.left(tile) - margin,
            points.at(0, image * grid.tiles() + tile) + lane, points.stride());
  }

  /// Sums over all images and positions.
  void sum_up(std::size_t block) const {
    Vector sum{};
    for (std::size_t image = 0; image < grid.images; ++image) {
      const float* map = gradient + (image * out + block) * grid.height * grid.width * kBlock;
      Vector of_image{};
      for (std::size_t i = 0; i < grid.height * grid.width; ++i) of_image += at(map + i * kBlock);
      sum += of_image;
    }
    Place& place = at(bias_gradient + block * kBlock);
    place = adds ? place + sum : sum;
  }

  /// The weight gradients from a block of input channels to a group of output channels.
  void compute_block(const Stack& gradients, const Stack& results, std::size_t block,
                     const Group& group) const {
    for (std::size_t point = 0; point < kPoints; ++point)
      for (std::size_t row = 0; row < rows(); row += kDepth)
        multiply<Left::by_depth>(windows(block).at(point, row), gradients.at(point, row),
                                 results.at(point, 0), std::min(kDepth, rows() - row), group.lanes,
                                 /*adds=*/row > 0, row > 0 ? Soon{} : soon(block, group, point));
    for (std::size_t lane = 0; lane < group.lanes; lane += kBlock) {
      float* weights = weights_between(block, (group.first + lane) / kBlock);
      for (std::size_t row = 0; row < kBlock; ++row)
        apply_in_memory<Kind::kWeightsBack>(results.at(0, row) + lane, results.stride(),
                                            weights + row * kBlock, kSquare, adds);
    }
  }

  /// The memory of the results: the first points prefetch half a block each.
  Soon soon(std::size_t block, const Group& group, std::size_t point) const {
    if (point / 2 >= group.lanes / kBlock) return {};
    const float* weights = weights_between(block, group.first / kBlock + point / 2);
    return {weights + point % 2 * (kWeightsBlock / 2), kWeightsBlock / 2};
  }

  void compute_group(const Group& group) const {
    const Stack gradients{scratch + sizes().windows, rows(), group.lanes};
    const Stack results{gradients.begin + sizes().gradients, kBlock, group.lanes};
    for (std::size_t lane = 0; lane < group.lanes; lane += kBlock) {
      const std::size_t block = (group.first + lane) / kBlock;
      transform<Kind::kOutput>(gradient, out, block, 0, gradients, lane);
      if (bias_gradient && from.begin == 0) sum_up(block);
    }
    for (std::size_t block = from.begin; block < from.end; ++block)
      compute_block(gradients, results, block, group);
  }

  void compute() const {
    if (from.begin == from.end) return;
    for (std::size_t block = from.begin; block < from.end; ++block)
      transform<Kind::kInput>(input, in, block, Kind::kMargin, windows(block), 0);
    for (std::size_t i = to.begin; i < to.end; ++i)
      compute_group(group_from(i * kGroup, out * kBlock));
  }
};

}  // namespace

}  // namespace lockstep::internal::engine::onednn
