// What a set of images is like.
#pragma once

#include "data/images.h"

#include <cstddef>
#include <vector>

namespace lockstep::data {

struct ImageStatistics {
  /// How many images have each label.
  std::vector<std::size_t> class_counts;
  /// Of each channel over all pixels of all images, scaled to 0 … 1: what a Normalisation takes.
  std::vector<double> mean;
  std::vector<double> deviation;
};

/// Sums are whole numbers: equal images give equal results on every machine.
ImageStatistics image_statistics(const Images& images);

}  // namespace lockstep::data
