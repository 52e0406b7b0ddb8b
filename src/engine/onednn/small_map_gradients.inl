// backward_weights: at every point, (channels of the input × images) · (images × channels of the
// output). The output's channels are the lanes, as they lie.
#pragma once

#include "engine/onednn/small_map_multiply.inl"

#include <omp.h>

namespace lockstep::engine::onednn {

namespace {

/// Asks for memory that is written soon, while there is something else to compute.
void fetch_ahead(const float* place, std::size_t floats) {
  for (std::size_t i = 0; i < floats; i += kBlock) __builtin_prefetch(place + i, 0, 2);
}

template <std::size_t size>
struct FindGradients {
  using Map = SmallMap<size>;
  static constexpr std::size_t kPoints = Map::kPoints;
  static constexpr std::size_t kPlane = Map::kPositions * kBlock;  ///< a block's map of an image

  const float* input;
  const float* gradient;
  float* weights_gradient;
  float* bias_gradient;
  float* scratch;
  std::size_t images;
  std::size_t in;  ///< blocks of channels
  std::size_t out;

  GradientScratch sizes() const { return {kPoints, images, in * kBlock}; }
  Stack maps(std::size_t block) const { return {scratch + block * sizes().block, images, kBlock}; }
  float* weights_between(std::size_t in_block, std::size_t out_block) const {
    return weights_gradient + (out_block * in + in_block) * kWeightsBlock;
  }

  /// A block of channels of maps becomes points, in these lanes.
  template <const auto& matrix>
  void transform_maps(const float* first, std::size_t blocks, const Stack& points,
                      std::size_t lane) const {
    for (std::size_t image = 0; image < images; ++image)
      apply_in_memory<matrix>(first + image * blocks * kPlane, kBlock, points.at(0, image) + lane,
                              points.stride());
  }

  /// Over all images and positions.
  void sum_up(std::size_t block) const {
    Vector sums[Map::kPositions] = {};
    for (std::size_t image = 0; image < images; ++image)
      for (std::size_t i = 0; i < Map::kPositions; ++i)
        sums[i] += at(gradient + (image * out + block) * kPlane + i * kBlock);
    for (std::size_t i = 1; i < Map::kPositions; ++i) sums[0] += sums[i];
    at(bias_gradient + block * kBlock) = sums[0];
  }

  /// The gradients of the weights from a block of input channels to a group of output channels.
  void compute_block(const Stack& gradients, const Stack& results, std::size_t block,
                     const Group& group) const {
    for (std::size_t point = 0; point < kPoints; ++point) {
      for (std::size_t lane = 0; lane < group.lanes && point < kKernel; lane += kBlock)
        fetch_ahead(weights_between(block, (group.first + lane) / kBlock) + point * kSquare,
                    kSquare);
      for (std::size_t image = 0; image < images; image += kDepth)
        multiply<Left::by_depth>(maps(block).at(point, image), gradients.at(point, image),
                                 results.at(point, 0), std::min(kDepth, images - image),
                                 group.lanes, /*adds=*/image > 0);
    }
    for (std::size_t lane = 0; lane < group.lanes; lane += kBlock)
      for (std::size_t row = 0; row < kBlock; ++row)
        apply_in_memory<Map::kWeightsBack>(
            results.at(0, row) + lane, results.stride(),
            weights_between(block, (group.first + lane) / kBlock) + row * kBlock, kSquare);
  }

  void compute_group(float* own, const Group& group) const {
    const Stack gradients{own, images, group.lanes};
    const Stack results{own + sizes().gradients, kBlock, group.lanes};
    for (std::size_t lane = 0; lane < group.lanes; lane += kBlock) {
      const std::size_t block = (group.first + lane) / kBlock;
      transform_maps<Map::kOutput>(gradient + block * kPlane, out, gradients, lane);
      if (bias_gradient) sum_up(block);
    }
    for (std::size_t block = 0; block < in; ++block)
      compute_block(gradients, results, block, group);
  }

  void run(std::size_t threads) const {
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
#pragma omp for schedule(static)
      for (std::size_t block = 0; block < in; ++block)
        transform_maps<Map::kInput>(input + block * kPlane, in, maps(block), 0);
      float* own =
          scratch + sizes().maps + static_cast<std::size_t>(omp_get_thread_num()) * sizes().thread;
#pragma omp for schedule(static)
      for (std::size_t first = 0; first < out * kBlock; first += kGroup)
        compute_group(own, group_from(first, out * kBlock));
    }
  }
};

}  // namespace

}  // namespace lockstep::engine::onednn
