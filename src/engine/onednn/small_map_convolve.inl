// Forward and backward_data: at every point, (a matrix of weights) · (channels × images). Images
// are the lanes: maps are transposed on their way in and out, 16 images by 16 channels at a time,
// and weights are used as they lie.
#pragma once

#include "engine/onednn/small_map_multiply.inl"

#include <omp.h>

namespace lockstep::engine::onednn {

namespace {

/// Which matrices come before and after the products, and how the weights lie for them.
template <std::size_t size>
struct Forward : SmallMap<size> {
  static constexpr auto& kBefore = SmallMap<size>::kInput;
  static constexpr auto& kAfter = SmallMap<size>::kOutputBack;
  static constexpr Left kLeft = Left::by_depth;
};

template <std::size_t size>
struct BackwardData : SmallMap<size> {
  static constexpr auto& kBefore = SmallMap<size>::kOutput;
  static constexpr auto& kAfter = SmallMap<size>::kInputBack;
  static constexpr Left kLeft = Left::by_row;
};

/// Blocks of channels of one side, and from one to the next in the weights.
struct Side {
  std::size_t blocks;
  std::size_t stride;
};

template <typename Pass>
struct Convolve {
  static constexpr std::size_t kPoints = Pass::kPoints;
  static constexpr std::size_t kPlane = Pass::kPositions * kBlock;  ///< a block's map of an image

  const float* input;
  const float* weights;
  const float* bias;
  float* output;
  float* scratch;
  std::size_t images;
  Side from;
  Side to;

  ConvolveScratch sizes() const { return {kPoints, images, from.blocks * kBlock}; }
  Stack maps(const Group& group) const {
    return {scratch + group.first / kGroup * sizes().group, from.blocks * kBlock, group.lanes};
  }
  Stack results(float* own, const Group& group) const {
    return {own + sizes().weights + group.first / kGroup * sizes().result, kPanel * kBlock,
            group.lanes};
  }

  /// 16 images and a block of channels become points.
  void transform_maps(std::size_t image, std::size_t block) const {
    const Group group = group_from(image / kGroup * kGroup, images);
    const Stack to_points = maps(group);
    const float* first = input + (image * from.blocks + block) * kPlane;
    Vector tile[Pass::kPositions][kBlock] = {};
    for (std::size_t position = 0; position < Pass::kPositions; ++position) {
      for (std::size_t i = 0; i < std::min(kBlock, images - image); ++i)
        tile[position][i] = at(first + i * from.blocks * kPlane + position * kBlock);
      transpose(tile[position]);
    }
    for (std::size_t i = 0; i < kBlock; ++i)
      apply_in_memory<Pass::kBefore>(reinterpret_cast<const float*>(&tile[0][i]), kSquare,
                                     to_points.at(0, block * kBlock + i) + image - group.first,
                                     to_points.stride());
  }

  /// Points become 16 images and a block of channels.
  void put_out(const Stack& points, std::size_t row, std::size_t image, std::size_t block) const {
    Vector tile[Pass::kPositions][kBlock];
    for (std::size_t i = 0; i < kBlock; ++i)
      apply_in_memory<Pass::kAfter>(points.at(0, row + i) + image % kGroup, points.stride(),
                                    reinterpret_cast<float*>(&tile[0][i]), kSquare);
    const Vector none{};
    const Vector shift = bias ? at(bias + block * kBlock) : none;
    float* first = output + (image * to.blocks + block) * kPlane;
    for (std::size_t position = 0; position < Pass::kPositions; ++position) {
      transpose(tile[position]);
      for (std::size_t i = 0; i < std::min(kBlock, images - image); ++i)
        at(first + i * to.blocks * kPlane + position * kBlock) = tile[position][i] + shift;
    }
  }

  /// The weights to `blocks` blocks from `first` on, from `deep` blocks from `begin` on.
  void transform_weights(const Stack& points, std::size_t first, std::size_t blocks,
                         std::size_t begin, std::size_t deep) const {
    for (std::size_t i = 0; i < blocks; ++i)
      for (std::size_t j = 0; j < deep; ++j) {
        const float* block = weights + (first + i) * to.stride + (begin + j) * from.stride;
        for (std::size_t row = 0; row < kBlock; ++row)
          apply_in_memory<Pass::kWeights>(block + row * kBlock, kSquare,
                                          points.at(0, (i * deep + j) * kBlock + row),
                                          points.stride());
      }
  }

  /// The blocks of output from `first` on.
  void compute_panel(float* own, std::size_t first) const {
    const std::size_t blocks = std::min(kPanel, to.blocks - first);
    for (std::size_t begin = 0; begin < from.blocks; begin += kDepth / kBlock) {
      const std::size_t deep = std::min(kDepth / kBlock, from.blocks - begin);
      const Stack left{own, blocks * deep * kBlock, kBlock};
      transform_weights(left, first, blocks, begin, deep);
      for (std::size_t image = 0; image < images; image += kGroup) {
        const Group group = group_from(image, images);
        for (std::size_t point = 0; point < kPoints; ++point)
          for (std::size_t i = 0; i < blocks; ++i)
            multiply<Pass::kLeft>(left.at(point, i * deep * kBlock),
                                  maps(group).at(point, begin * kBlock),
                                  results(own, group).at(point, i * kBlock), deep * kBlock,
                                  group.lanes, /*adds=*/begin > 0);
      }
    }
    for (std::size_t image = 0; image < images; image += kBlock)
      for (std::size_t i = 0; i < blocks; ++i)
        put_out(results(own, group_from(image / kGroup * kGroup, images)), i * kBlock, image,
                first + i);
  }

  void run(std::size_t threads) const {
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
#pragma omp for schedule(static) collapse(2)
      for (std::size_t image = 0; image < images; image += kBlock)
        for (std::size_t block = 0; block < from.blocks; ++block) transform_maps(image, block);
      float* own =
          scratch + sizes().maps + static_cast<std::size_t>(omp_get_thread_num()) * sizes().thread;
#pragma omp for schedule(static)
      for (std::size_t first = 0; first < to.blocks; first += kPanel) compute_panel(own, first);
    }
  }
};

}  // namespace

}  // namespace lockstep::engine::onednn
