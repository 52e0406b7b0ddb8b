// Division: how many images of a global batch each worker computes, where they differ on purpose.
#pragma once

#include "data/sampler.h"

#include <cstddef>
#include <span>
#include <vector>

namespace lockstep::train {

/// By worker: images of a whole global batch, at least 1 each.
using Division = std::vector<std::size_t>;

/// The division of `batch` images that lets workers of these speeds (images a second) end together,
/// as nearly as whole images do. REQUIRES: speeds above 0; at least as many images as workers.
Division divide_by_speed(std::span<const double> speeds, std::size_t batch);

/// When the last of the workers ends: seconds.
double seconds_of(const Division& division, std::span<const double> speeds);

/// The slice of `count` images that is this worker's, in proportion to the division: that itself if
/// `count` is the whole batch. The slices of all workers, one after another, are the whole.
data::Range share_of(const Division& division, std::size_t count, int worker);

}  // namespace lockstep::train
