// Augmentation: shows the model every image slightly changed in each epoch. The random choices
// depend on (seed, epoch, image) alone, neither on the batch nor on the worker that loads the
// image.
#pragma once

#include <cstdint>

namespace lockstep::internal::data {

struct Augmentation {
  /// The image is shifted by up to this many pixels vertically and horizontally: a random crop of
  /// the image with a black border of that width. 0 disables shifts.
  int shift = 4;
  /// Half of the images are mirrored horizontally.
  bool flip = true;
  std::uint64_t seed = 5000;
};

/// How one image is shown. Pixel (y, x) of the result is pixel (y + down, x + right) of the image,
/// or of the mirrored image; black outside of it.
struct View {
  int down = 0;
  int right = 0;
  bool mirrored = false;

  bool operator==(const View&) const = default;
};

View draw_view(const Augmentation& augmentation, std::uint64_t epoch, std::uint32_t image);

}  // namespace lockstep::internal::data
