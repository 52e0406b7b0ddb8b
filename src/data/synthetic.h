// Generated images: any number of any size, of classes that a model can learn. For experiments, and
// for timing shapes that no available data set has.
//
// Each class has a pattern: a coarse grid of random greys in each channel, interpolated between its
// points. An image is its class's pattern, shifted by up to an eighth of its size, with random
// contrast and noise. All arithmetic is on integers, and each image has its own random stream:
// equal options give equal bytes on every machine, and a smaller set is the beginning of a larger
// one.
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep::internal::data {

struct SyntheticOptions {
  ImageShape shape{.channels = 3, .height = 32, .width = 32};

  /// From 1 to 256, since labels are bytes. Every `classes` consecutive images have each class
  /// once.
  int classes = 10;

  std::size_t train = 10000;  ///< training images
  std::size_t test = 2000;    ///< test images: same patterns, different images

  /// Seed of the patterns and the images.
  std::uint64_t seed = 5000;
};

/// Parses the text after "synthetic": empty for the defaults, or a colon and any of these,
/// separated by commas: CxHxW (channels, height, width), classes=N, train=N, test=N, seed=N. For
/// example,
/// ":1x28x28,train=500" sets two. Throws UsageError that names the fault.
SyntheticOptions parse_synthetic(std::string_view text);

/// Throws UsageError for a size of 0, more than 256 classes, or a set larger than 16 GiB.
Images make_synthetic(const SyntheticOptions& options, Split split);

/// Maps half grey to 0 in every channel.
Normalisation synthetic_normalisation(int channels);

}  // namespace lockstep::internal::data
