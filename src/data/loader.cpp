#include "data/loader.h"

#include <lockstep/error.h>

#include "base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::data {

namespace {

void check_fits(const Normalisation& normalisation, int channels) {
  const auto expected = static_cast<std::size_t>(channels);
  if (normalisation.mean.size() != expected || normalisation.deviation.size() != expected)
    throw UsageError(fmt::format(
        "{} means and {} deviations cannot normalise images of {} channels: give one of each for "
        "every channel",
        normalisation.mean.size(), normalisation.deviation.size(), channels));
  for (float deviation : normalisation.deviation)
    if (!(deviation > 0))
      throw UsageError(
          fmt::format("cannot normalise by a deviation of {}: it must be above 0", deviation));
}

}  // namespace

Loader::Loader(std::shared_ptr<const Images> images, const Normalisation& normalisation,
               int padding)
    : images_(std::move(images)), padding_(padding), shape_(images_->shape) {
  LOCKSTEP_CHECK(images_->pixels.size() == images_->size() * shape_.pixels(),
                 "{} images of {} pixels come with {} pixels", images_->size(), shape_.pixels(),
                 images_->pixels.size());
  check_fits(normalisation, shape_.channels);
  if (padding < 0)
    throw UsageError(fmt::format("cannot pad images by {} pixels: it must be 0 or more", padding));
  shape_.height += 2 * padding;
  shape_.width += 2 * padding;
  tables_.resize(normalisation.mean.size());
  for (std::size_t channel = 0; channel < tables_.size(); ++channel)
    for (int byte = 0; byte < 256; ++byte)
      tables_[channel][byte] = (static_cast<float>(byte) / 255.0f - normalisation.mean[channel]) /
                               normalisation.deviation[channel];
}

void Loader::load(std::span<const std::uint32_t> indices, Batch& out) const {
  out.pixels.resize(indices.size() * shape_.pixels());
  out.labels.resize(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::size_t image = indices[i];
    LOCKSTEP_CHECK(image < images_->size(), "image {} of a set of {}", image, images_->size());
    load_image(images_->pixels.data() + image * images_->shape.pixels(),
               out.pixels.data() + i * shape_.pixels());
    out.labels[i] = images_->labels[image];
  }
}

void Loader::load_image(const std::uint8_t* from, float* to) const {
  // The batch may have been written to since, so the border is cleared every time: the whole image
  // at once is cheaper than piece by piece.
  std::fill_n(to, shape_.pixels(), 0.0f);
  const ImageShape& source = images_->shape;
  for (const Table& table : tables_) {
    to += padding_ * std::ptrdiff_t{shape_.width};
    for (int y = 0; y < source.height; ++y) {
      std::transform(from, from + source.width, to + padding_,
                     [&](std::uint8_t byte) { return table[byte]; });
      from += source.width;
      to += shape_.width;
    }
    to += padding_ * std::ptrdiff_t{shape_.width};
  }
}

}  // namespace lockstep::data
