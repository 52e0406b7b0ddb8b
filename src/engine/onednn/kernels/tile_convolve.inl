// Forward and backward_data: at every point, (a matrix of weights) · (channels × tiles). Tiles are
// the lanes: maps are transposed on input and output, 16 images by 16 channels at a time, and
// weights are used in their stored layout.
#pragma once

#include "engine/onednn/kernels/tile_multiply.inl"

#include <omp.h>

namespace lockstep::internal::engine::onednn {

namespace {

template <typename Kind>
struct Forward : Kind {
  static constexpr auto& kKernelMatrix = Kind::kWeights;
  static constexpr Left kLeft = Left::by_depth;
};

template <typename Kind>
struct BackwardData : Kind {
  static constexpr auto& kKernelMatrix = Kind::kWeightsTurned;
  static constexpr Left kLeft = Left::by_row;
};

/// Blocks of channels of one side, and their stride in the weights.
struct Side {
  std::size_t blocks;
  std::size_t stride;
};

template <typename Pass>
struct Convolve {
  static constexpr std::size_t kPoints = Pass::kPoints;
  static constexpr std::size_t kDeep = kDepth / kBlock;

  const float* input;
  const float* weights;
  const float* bias;
  float* output;
  float* scratch;
  Grid grid;
  Side from;
  Side to;

  ConvolveScratch sizes() const { return {kPoints, grid, from.blocks * kBlock}; }
  Group group_of(std::size_t lane) const {
    return group_from(lane / kGroup * kGroup, grid.lanes());
  }
  Stack windows(const Group& group) const {
    return {scratch + group.first / kGroup * sizes().group, from.blocks * kBlock, group.lanes};
  }
  Stack results(float* own, const Group& group) const {
    return {own + sizes().weights + group.first / kGroup * sizes().result, kPanel * kBlock,
            group.lanes};
  }
  /// The offset of a pixel in an image's map of a block.
  std::size_t pixel(const Side& side, std::size_t image, std::size_t block, std::size_t y,
                    std::size_t x) const {
    return (((image * side.blocks + block) * grid.height + y) * grid.width + x) * kBlock;
  }

  /// Transforms the windows of 16 images and a block of channels to points.
  void transform_windows(std::size_t lane, std::size_t block) const {
    const std::size_t image = lane % grid.padded();
    const std::size_t images = std::min(kBlock, grid.images - std::min(image, grid.images));
    const std::size_t tile = lane / grid.padded();
    Vector window[Pass::kWindow * Pass::kWindow][kBlock] = {};
    for (std::size_t i = 0; i < Pass::kWindow * Pass::kWindow; ++i) {
      // Above and left of the map these wrap around to huge numbers.
      const std::size_t y = grid.top(tile) + i / Pass::kWindow - Pass::kMargin;
      const std::size_t x = grid.left(tile) + i % Pass::kWindow - Pass::kMargin;
      if (y >= grid.height || x >= grid.width) continue;
      for (std::size_t j = 0; j < images; ++j)
        window[i][j] = at(input + pixel(from, image + j, block, y, x));
      transpose(window[i]);
    }
    const Stack points = windows(group_of(lane));
    for (std::size_t i = 0; i < kBlock; ++i)
      apply_in_memory<Pass::kInput>(reinterpret_cast<const float*>(&window[0][i]), kSquare,
                                    points.at(0, block * kBlock + i) + lane % kGroup,
                                    points.stride());
  }

  /// Transforms points to the tiles of 16 images and a block of channels.
  void put_out(const Stack& points, std::size_t row, std::size_t lane, std::size_t block) const {
    Vector tile[Pass::kSize * Pass::kSize][kBlock];
    for (std::size_t i = 0; i < kBlock; ++i)
      apply_in_memory<Pass::kOutputBack>(points.at(0, row + i) + lane % kGroup, points.stride(),
                                         reinterpret_cast<float*>(&tile[0][i]), kSquare);
    const Vector none{};
    const Vector shift = bias ? at(bias + block * kBlock) : none;
    const std::size_t image = lane % grid.padded();
    const std::size_t number = lane / grid.padded();
    for (std::size_t i = 0; i < Pass::kSize * Pass::kSize; ++i) {
      transpose(tile[i]);
      for (std::size_t j = 0; j < std::min(kBlock, grid.images - image); ++j)
        at(output + pixel(to, image + j, block, grid.top(number) + i / Pass::kSize,
                          grid.left(number) + i % Pass::kSize)) = tile[i][j] + shift;
    }
  }

  /// Transforms the weights to `blocks` blocks from `first` on, from `deep` blocks from `begin` on.
  void transform_weights(const Stack& points, std::size_t first, std::size_t blocks,
                         std::size_t begin, std::size_t deep) const {
    for (std::size_t i = 0; i < blocks; ++i)
      for (std::size_t j = 0; j < deep; ++j) {
        const float* block = weights + (first + i) * to.stride + (begin + j) * from.stride;
        for (std::size_t row = 0; row < kBlock; ++row)
          apply_in_memory<Pass::kKernelMatrix>(block + row * kBlock, kSquare,
                                               points.at(0, (i * deep + j) * kBlock + row),
                                               points.stride());
      }
  }

  /// A block of the weights that are transformed next.
  Soon soon(std::size_t first, std::size_t begin, std::size_t number) const {
    const bool next_panel = begin + kDeep >= from.blocks;
    const std::size_t next = next_panel ? 0 : begin + kDeep;
    const std::size_t deep = std::min(kDeep, from.blocks - next);
    const std::size_t block = first + (next_panel ? kPanel : 0) + number / deep;
    if (number / deep >= kPanel || block >= to.blocks) return {};
    return {weights + block * to.stride + (next + number % deep) * from.stride, kWeightsBlock};
  }

  /// Adds the product of a part of a panel of weights, `deep` blocks from `begin` on, and the
  /// points of a group of lanes.
  void multiply_group(const Stack& part, const Group& group, const Stack& sums, std::size_t first,
                      std::size_t begin, std::size_t deep, bool asks) const {
    const std::size_t blocks = std::min(kPanel, to.blocks - first);
    const Stack right = windows(group);
    for (std::size_t point = 0; point < kPoints; ++point)
      for (std::size_t i = 0; i < blocks; ++i)
        multiply<Pass::kLeft>(part.at(point, i * deep * kBlock), right.at(point, begin * kBlock),
                              sums.at(point, i * kBlock), deep * kBlock, group.lanes,
                              /*adds=*/begin > 0,
                              asks ? soon(first, begin, point * blocks + i) : Soon{});
  }

  /// Computes the output blocks from `first` on, for the lanes of these groups.
  void compute_panel(float* own, std::size_t first, std::size_t groups_begin,
                     std::size_t groups_end) const {
    const std::size_t blocks = std::min(kPanel, to.blocks - first);
    for (std::size_t begin = 0; begin < from.blocks; begin += kDeep) {
      const std::size_t deep = std::min(kDeep, from.blocks - begin);
      const Stack part{own, blocks * deep * kBlock, kBlock};
      transform_weights(part, first, blocks, begin, deep);
      for (std::size_t i = groups_begin; i < groups_end; ++i) {
        const Group group = group_of(i * kGroup);
        const Stack sums = results(own, group);
        multiply_group(part, group, sums, first, begin, deep, /*asks=*/i == groups_begin);
        if (begin + deep < from.blocks) continue;
        for (std::size_t lane = 0; lane < group.lanes; lane += kBlock)
          for (std::size_t j = 0; j < blocks; ++j)
            put_out(sums, j * kBlock, group.first + lane, first + j);
      }
    }
  }

  void compute_alone() const {
    for (std::size_t lane = 0; lane < grid.lanes(); lane += kBlock)
      for (std::size_t block = 0; block < from.blocks; ++block) transform_windows(lane, block);
    for (std::size_t first = 0; first < to.blocks; first += kPanel)
      compute_panel(scratch + sizes().windows, first, 0, groups_of(grid.lanes()));
  }

  void compute_with(int threads) const {
    const std::size_t panels = divided_up(to.blocks, kPanel);
    const std::size_t groups = groups_of(grid.lanes());
    const std::size_t parts =
        std::min(groups, divided_up(static_cast<std::size_t>(threads), panels));
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) collapse(2)
      for (std::size_t lane = 0; lane < grid.lanes(); lane += kBlock)
        for (std::size_t block = 0; block < from.blocks; ++block) transform_windows(lane, block);
      float* own = scratch + sizes().windows +
                   static_cast<std::size_t>(omp_get_thread_num()) * sizes().thread;
#pragma omp for schedule(static) collapse(2)
      for (std::size_t part = 0; part < parts; ++part)
        for (std::size_t panel = 0; panel < panels; ++panel)
          compute_panel(own, panel * kPanel, groups * part / parts, groups * (part + 1) / parts);
    }
  }
};

}  // namespace

}  // namespace lockstep::internal::engine::onednn
