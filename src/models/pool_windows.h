// Common parts of our pools with 2×2 windows: the supported images, and the partition of the rows
// of windows among threads.
#pragma once

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cstdint>

namespace lockstep::internal::models {

/// Whether our pools support the images; torch pools the others.
inline bool can_pool_2x2(const torch::Tensor& images) {
  const bool type =
      images.scalar_type() == torch::kFloat32 || images.scalar_type() == torch::kFloat64;
  return type && images.device().is_cpu() && images.dim() == 4 && images.is_contiguous() &&
         images.size(2) % 2 == 0 && images.size(3) % 2 == 0 && images.numel() > 0;
}

/// The shape of the output.
inline std::vector<std::int64_t> sizes_of_windows(const torch::Tensor& images) {
  return {images.size(0), images.size(1), images.size(2) / 2, images.size(3) / 2};
}

/// Calls row(i) for every row of windows of all images and channels, on torch's threads. Row i of
/// windows, of width w, covers the image's memory from 4·i·w: two rows of 2·w.
template <typename Row>
void for_each_row_of_windows(const torch::Tensor& pooled, const Row& row) {
  constexpr std::int64_t kRowsWorthAThread = 1024;
  const std::int64_t width = pooled.size(3);
  at::parallel_for(0, width > 0 ? pooled.numel() / width : 0, kRowsWorthAThread,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) row(i);
                   });
}

}  // namespace lockstep::internal::models
