// Stack: the layout of all points in a kernel's scratch memory. For tile_kernels.inl.
#pragma once

#include "engine/onednn/kernels/tile_kernels.h"

#include <algorithm>

namespace lockstep::internal::engine::onednn {

inline constexpr std::size_t kBlock = 16;   ///< channels in a block, and floats in a vector
inline constexpr std::size_t kGroup = 64;   ///< maximum number of lanes computed together
inline constexpr std::size_t kDepth = 128;  ///< depth of a partial product: limited by the L1 cache
inline constexpr std::size_t kPanel = 4;    ///< blocks of channels in a panel of weights
inline constexpr std::size_t kKernel = 9;   ///< weights between two channels
inline constexpr std::size_t kSquare = kBlock * kBlock;
inline constexpr std::size_t kWeightsBlock = kKernel * kSquare;  ///< between two blocks of channels

constexpr std::size_t divided_up(std::size_t count, std::size_t by) {
  return (count + by - 1) / by;
}

/// Tiles or channels, one per lane: 16, 32, 48 or 64 lanes.
struct Group {
  std::size_t first;
  std::size_t lanes;
};

inline Group group_from(std::size_t first, std::size_t all) {
  return {first, std::min(kGroup, divided_up(all - first, kBlock) * kBlock)};
}

inline std::size_t groups_of(std::size_t all) {
  return divided_up(all, kGroup);
}

/// One matrix per point, one after another. A gap keeps equal positions of different points out of
/// the same cache set.
struct Stack {
  static constexpr std::size_t kGap = kBlock;

  float* begin;
  std::size_t rows;
  std::size_t lanes;

  static std::size_t floats(std::size_t points, std::size_t rows, std::size_t lanes) {
    return points * (rows * lanes + kGap);
  }
  std::size_t stride() const { return rows * lanes + kGap; }
  float* at(std::size_t point, std::size_t row) const {
    return begin + point * stride() + row * lanes;
  }
};

/// The partition of a map into tiles.
struct Grid {
  std::size_t images;
  std::size_t height;
  std::size_t width;
  std::size_t tile;  ///< side of a tile

  std::size_t tiles() const { return height / tile * (width / tile); }
  std::size_t top(std::size_t number) const { return number / (width / tile) * tile; }
  std::size_t left(std::size_t number) const { return number % (width / tile) * tile; }
  /// One lane per image and tile. The lanes of 16 images and one tile are a vector.
  std::size_t lanes() const { return tiles() * padded(); }
  std::size_t padded() const { return divided_up(images, kBlock) * kBlock; }
};

inline Grid grid_of(const TileShape& shape) {
  return {shape.batch, shape.height, shape.width, shape.height == 2 ? 2ul : 4ul};
}

/// The images that forward and backward_data compute at once: few enough to keep the points of
/// their windows in the outer caches. If there are enough such parts, each thread computes its own
/// without waiting for others; otherwise all threads divide the work of each part.
struct Parts {
  Parts(std::size_t points, const Grid& all, std::size_t channels, std::size_t threads)
      : grid(all) {
    constexpr std::size_t kOuterCache = (5 << 20) / sizeof(float);
    const std::size_t most = kOuterCache / (points * channels * all.tiles()) / kBlock * kBlock;
    count = divided_up(all.images, std::max(kBlock, most));
    apart = count >= threads;
    if (apart) count = divided_up(count, threads) * threads;
    grid.images = std::min(all.images, divided_up(divided_up(all.images, count), kBlock) * kBlock);
    count = divided_up(all.images, grid.images);
  }
  Grid grid;  ///< of each part but the last, which may have fewer images
  std::size_t count;
  bool apart;
};

/// The images that backward_weights computes at once: few enough to keep the points of a group's
/// gradients in the L2 cache.
inline Grid differentiated_at_once(std::size_t points, const Grid& all) {
  constexpr std::size_t kInnerCache = (3 << 19) / sizeof(float);
  const std::size_t images = kInnerCache / (points * kGroup * all.tiles());
  return {std::min(std::max<std::size_t>(1, images), all.images), all.height, all.width, all.tile};
}

/// Scratch memory of forward and backward_data with so many input channels: the points of all
/// windows, and for each thread those of a panel of weights and of its output.
struct ConvolveScratch {
  ConvolveScratch(std::size_t points, const Grid& grid, std::size_t channels)
      : group(Stack::floats(points, channels, kGroup)),
        windows(groups_of(grid.lanes()) * group),
        weights(Stack::floats(points, kPanel * kDepth, kBlock)),
        result(Stack::floats(points, kPanel * kBlock, kGroup)),
        thread(weights + groups_of(grid.lanes()) * result) {}
  std::size_t group;  ///< of lanes, in windows
  std::size_t windows;
  std::size_t weights;
  std::size_t result;  ///< for a group of lanes
  std::size_t thread;
};

/// The partition of backward_weights among threads: each has some input and some output channels,
/// and none waits for another.
struct ThreadGrid {
  explicit ThreadGrid(std::size_t threads) : in(1) {
    while (in * in < threads || threads % in > 0) ++in;
    out = threads / in;
  }
  std::size_t in;   ///< number of slices of the input channels
  std::size_t out;  ///< number of slices of the output channels
};

/// Scratch memory of backward_weights, for each thread: the points of all windows of its input
/// channels, of a group's gradients, and of its output.
struct GradientScratch {
  GradientScratch(std::size_t points, const Grid& grid, std::size_t blocks)
      : block(Stack::floats(points, grid.images * grid.tiles(), kBlock)),
        windows(blocks * block),
        gradients(Stack::floats(points, grid.images * grid.tiles(), kGroup)),
        thread(windows + gradients + Stack::floats(points, kBlock, kGroup)) {}
  std::size_t block;  ///< of a block of channels
  std::size_t windows;
  std::size_t gradients;
  std::size_t thread;
};

}  // namespace lockstep::internal::engine::onednn
