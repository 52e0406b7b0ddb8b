// Stack: how the numbers of all points lie in a kernel's scratch memory. For small_map_kernels.inl.
#pragma once

#include "engine/onednn/small_map_kernels.h"

#include <algorithm>

namespace lockstep::engine::onednn {

inline constexpr std::size_t kBlock = 16;   ///< channels of a block, and floats of a vector
inline constexpr std::size_t kGroup = 64;   ///< lanes that are computed together, at most
inline constexpr std::size_t kDepth = 128;  ///< of a product, before the next is added to it:
                                            ///< as much as the L1 cache holds
inline constexpr std::size_t kPanel = 4;    ///< blocks of channels of a panel of weights
inline constexpr std::size_t kKernel = 9;   ///< weights between two channels
inline constexpr std::size_t kSquare = kBlock * kBlock;
inline constexpr std::size_t kWeightsBlock = kKernel * kSquare;  ///< between two blocks of channels

/// Images or channels, one a lane: the lanes are 16, 32, 48 or 64.
struct Group {
  std::size_t first;
  std::size_t lanes;
};

inline Group group_from(std::size_t first, std::size_t all) {
  const std::size_t left = (all - first + kBlock - 1) / kBlock * kBlock;
  return {first, std::min(kGroup, left)};
}

inline std::size_t groups_of(std::size_t all) {
  return (all + kGroup - 1) / kGroup;
}

/// A matrix for every point, one after the other. Equal places of different points must not fall
/// into one set of the cache: a gap keeps them apart.
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

/// Scratch memory of forward and backward_data, with so many channels on the side that they take:
/// the points of all maps, and for each thread those of a panel of weights and of what comes out.
struct ConvolveScratch {
  ConvolveScratch(std::size_t points, std::size_t images, std::size_t channels)
      : group(Stack::floats(points, channels, kGroup)),
        maps(groups_of(images) * group),
        weights(Stack::floats(points, kPanel * kDepth, kBlock)),
        result(Stack::floats(points, kPanel * kBlock, kGroup)),
        thread(weights + groups_of(images) * result) {}
  std::size_t group;  ///< of images, in maps
  std::size_t maps;
  std::size_t weights;
  std::size_t result;  ///< for a group of images
  std::size_t thread;
};

/// Scratch memory of backward_weights: the points of all input maps, and for each thread those of
/// a group's gradients and of what comes out.
struct GradientScratch {
  GradientScratch(std::size_t points, std::size_t images, std::size_t channels)
      : block(Stack::floats(points, images, kBlock)),
        maps(channels / kBlock * block),
        gradients(Stack::floats(points, images, kGroup)),
        thread(gradients + Stack::floats(points, kBlock, kGroup)) {}
  std::size_t block;  ///< of channels, in maps
  std::size_t maps;
  std::size_t gradients;
  std::size_t thread;
};

}  // namespace lockstep::engine::onednn
