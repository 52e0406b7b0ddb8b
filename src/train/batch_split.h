// BatchSplit: how many images of a global batch each worker computes, where the numbers differ on
// purpose.
#pragma once

#include "data/sampler.h"

#include <cstddef>
#include <span>
#include <vector>

namespace lockstep::internal::train {

/// By worker: its images of a full global batch, at least 1 each.
using BatchSplit = std::vector<std::size_t>;

/// Splits `batch` images so that workers of these speeds (images a second) finish as nearly
/// together as whole images allow. REQUIRES: speeds above 0; at least as many images as workers.
BatchSplit split_by_speed(std::span<const double> speeds, std::size_t batch);

/// Seconds until the last worker finishes.
double seconds_of(const BatchSplit& split, std::span<const double> speeds);

/// This worker's slice of `count` images, in proportion to the split: exactly its number if `count`
/// is a full batch. The slices of all workers, one after another, cover all images.
data::Range slice_of_worker(const BatchSplit& split, std::size_t count, int worker);

}  // namespace lockstep::internal::train
