// A batch of images and labels, given as torch tensors, in the form that an engine takes.
#pragma once

#include "data/loader.h"

#include <torch/torch.h>

namespace lockstep::internal {

/// Copies the tensors into `batch`, whose memory is reused. Throws UsageError, and changes nothing,
/// unless the images are a float32 tensor [N, channels, height, width] of this shape and the labels
/// an int64 tensor [N] of values from 0 to classes − 1, both dense and in main memory.
void copy_tensors(const torch::Tensor& images, const torch::Tensor& labels,
                  const data::ImageShape& shape, std::int64_t classes, data::Batch& batch);

}  // namespace lockstep::internal
