// Loader: converts the bytes of images to normalised floats.
#pragma once

#include "data/augmentation.h"
#include "data/images.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::internal::data {

/// A byte b of channel c becomes (b / 255 − mean[c]) / deviation[c], each step rounded to float as
/// torchvision's ToTensor and Normalize do. One entry per channel.
struct Normalisation {
  std::vector<float> mean;
  std::vector<float> deviation;
};

/// The input of one step. Reuse an object to reuse its memory.
struct Batch {
  /// One image after another, each of Loader::shape(), channel by channel and row by row.
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;

  std::size_t size() const { return labels.size(); }
};

/// Picks images, normalises them and pads them with zeros. Thread safety: any number of threads may
/// load at once, each into its own batch.
class Loader {
 public:
  /// `padding` is the width of the border of zeros on each of the four sides. The border is added
  /// to the normalised image, so it stands for the mean. Throws UsageError if the normalisation
  /// does not fit the images' channels, a deviation is not positive, or padding is negative.
  Loader(std::shared_ptr<const Images> images, const Normalisation& normalisation, int padding,
         const std::optional<Augmentation>& augmentation = {});

  /// Replaces the content of `out` by the images of these indices, in order, augmented for this
  /// epoch. REQUIRES: each index is less than the number of images.
  void load(std::span<const std::uint32_t> indices, Batch& out, std::uint64_t epoch = 0) const;

  /// A loader whose loads take longer by this time: simulates a slow disk.
  Loader slowed(std::chrono::duration<double> by) const;

  /// The shape of a loaded image, padding included.
  ImageShape shape() const { return shape_; }

 private:
  using Table = std::array<float, 256>;  // the float of each byte value

  void load_image(const std::uint8_t* from, const View& view, float* to) const;
  void load_row(const std::uint8_t* from, const Table& table, const View& view, float* to) const;

  std::shared_ptr<const Images> images_;
  std::vector<Table> tables_;  // by channel
  int padding_;
  std::optional<Augmentation> augmentation_;
  ImageShape shape_;
  std::chrono::duration<double> delay_{0};
};

}  // namespace lockstep::internal::data
