// A set of labelled images as it comes from its files: bytes, not yet normalised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::data {

/// The limit that is none.
inline constexpr std::size_t kAllItems = std::numeric_limits<std::size_t>::max();

/// The two parts in which a set is published.
enum class Split {
  train,  ///< what a network learns from
  test,   ///< what it is judged by
};

struct ImageShape {
  int channels = 0;
  int height = 0;
  int width = 0;

  /// Values of one image, over all its channels.
  std::size_t pixels() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }

  bool operator==(const ImageShape&) const = default;
};

/// All images have one shape. Never changed once it is read, so that any number of loaders and
/// threads may share it.
struct Images {
  ImageShape shape;
  /// Labels are 0 … classes − 1.
  int classes = 0;
  /// One image after another, each channel by channel and row by row: size() × shape.pixels()
  /// values.
  std::vector<std::uint8_t> pixels;
  /// One label an image, in the order of `pixels`.
  std::vector<std::uint8_t> labels;

  std::size_t size() const { return labels.size(); }
};

}  // namespace lockstep::data
