// Images that are made, not read: any number of any size, of classes that a network can learn to
// tell apart. For trying things out, and for timing shapes that no set at hand has.
//
// Each class has a pattern: a coarse grid of random greys in each channel, blended smoothly from
// point to point. An image is its class's pattern, moved by up to an eighth of its size, paler or
// stronger, under noise. Whole numbers do all of it, and each image has a random stream of its own:
// equal options give equal bytes on every machine, and a smaller set is the beginning of a larger
// one.
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep::data {

struct SyntheticOptions {
  ImageShape shape{.channels = 3, .height = 32, .width = 32};

  /// From 1 to 256, as labels are bytes. Every run of so many images has each class once.
  int classes = 10;

  std::size_t train = 10000;  ///< training images
  std::size_t test = 2000;    ///< test images: of the same patterns, and none of the others

  /// Names the patterns and the images.
  std::uint64_t seed = 5000;
};

/// The options that a text after "synthetic" stands for: nothing for the defaults, or a colon and
/// any of these, with commas between: CxHxW (channels, height, width), classes=N, train=N, test=N,
/// seed=N. So ":1x28x28,train=500" changes two. Throws UsageError that names what is wrong.
SyntheticOptions parse_synthetic(std::string_view text);

/// Throws UsageError for a size of 0, more than 256 classes, or a set larger than 16 GiB.
Images make_synthetic(const SyntheticOptions& options, Split split);

/// Half grey becomes 0 in every channel.
Normalisation synthetic_normalisation(int channels);

}  // namespace lockstep::data
