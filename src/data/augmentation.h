// Augmentation: shows a network every image a little differently in each epoch. What is drawn
// depends on (seed, epoch, image) alone: neither on the batch that the image comes in, nor on who
// loads it.
#pragma once

#include <cstdint>

namespace lockstep::data {

struct Augmentation {
  /// The image is shifted by up to so many pixels up or down, and left or right: a random crop of
  /// the image with that much black around it. 0 shifts nothing.
  int shift = 4;
  /// Half of the images are mirrored left to right.
  bool flip = true;
  std::uint64_t seed = 5000;
};

/// How one image is shown. Pixel (y, x) of what is shown is pixel (y + down, x + right) of the
/// image, or of the mirrored image; black where there is none.
struct View {
  int down = 0;
  int right = 0;
  bool mirrored = false;

  bool operator==(const View&) const = default;
};

View draw_view(const Augmentation& augmentation, std::uint64_t epoch, std::uint32_t image);

}  // namespace lockstep::data
