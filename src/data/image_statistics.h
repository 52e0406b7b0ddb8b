// Class counts, mean and standard deviation of a set of images.
#pragma once

#include "data/images.h"

#include <cstddef>
#include <vector>

namespace lockstep::internal::data {

struct ImageStatistics {
  /// Number of images by label.
  std::vector<std::size_t> class_counts;
  /// Mean and deviation of each channel over all pixels, scaled to 0 … 1, as in Normalisation.
  std::vector<double> mean;
  std::vector<double> deviation;
};

/// Sums are integers, so equal images give equal results on every machine.
ImageStatistics image_statistics(const Images& images);

}  // namespace lockstep::internal::data
