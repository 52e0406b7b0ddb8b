// A set of labelled images as stored in its files: bytes, not normalised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::internal::data {

/// The limit that reads all items.
inline constexpr std::size_t kAllItems = std::numeric_limits<std::size_t>::max();

/// The two parts in which a set is published.
enum class Split {
  train,  ///< the images to learn from
  test,   ///< the images to evaluate on
};

struct ImageShape {
  int channels = 0;
  int height = 0;
  int width = 0;

  /// Number of values in an image, over all channels.
  std::size_t pixels() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }

  bool operator==(const ImageShape&) const = default;
};

/// Images of one shape. Not changed after reading, so any number of loaders and threads may use it.
struct Images {
  ImageShape shape;
  /// Labels are 0 … classes − 1.
  int classes = 0;
  /// One image after another, each channel by channel and row by row: size() × shape.pixels()
  /// values.
  std::vector<std::uint8_t> pixels;
  /// One label per image, in the order of `pixels`.
  std::vector<std::uint8_t> labels;

  std::size_t size() const { return labels.size(); }
};

}  // namespace lockstep::internal::data
