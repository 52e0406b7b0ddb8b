#include "data/loader.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/sleep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::internal::data {

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
               int padding, const std::optional<Augmentation>& augmentation)
    : images_(std::move(images)),
      padding_(padding),
      augmentation_(augmentation),
      shape_(images_->shape) {
  LOCKSTEP_CHECK(images_->pixels.size() == images_->size() * shape_.pixels(),
                 "{} images of {} pixels come with {} pixels", images_->size(), shape_.pixels(),
                 images_->pixels.size());
  check_fits(normalisation, shape_.channels);
  if (padding < 0)
    throw UsageError(fmt::format("cannot pad images by {} pixels: it must be 0 or more", padding));
  if (augmentation && augmentation->shift < 0)
    throw UsageError(fmt::format("cannot shift images by up to {} pixels: it must be 0 or more",
                                 augmentation->shift));
  shape_.height += 2 * padding;
  shape_.width += 2 * padding;
  tables_.resize(normalisation.mean.size());
  for (std::size_t channel = 0; channel < tables_.size(); ++channel)
    for (int byte = 0; byte < 256; ++byte)
      tables_[channel][byte] = (static_cast<float>(byte) / 255.0f - normalisation.mean[channel]) /
                               normalisation.deviation[channel];
}

Loader Loader::slowed(std::chrono::duration<double> by) const {
  Loader slow = *this;
  slow.delay_ = by;
  return slow;
}

void Loader::load(std::span<const std::uint32_t> indices, Batch& out, std::uint64_t epoch) const {
  if (delay_.count() > 0) sleep_for(delay_);
  out.pixels.resize(indices.size() * shape_.pixels());
  out.labels.resize(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint32_t image = indices[i];
    LOCKSTEP_CHECK(image < images_->size(), "image {} of a set of {}", image, images_->size());
    const View view = augmentation_ ? draw_view(*augmentation_, epoch, image) : View{};
    load_image(images_->pixels.data() + image * images_->shape.pixels(), view,
               out.pixels.data() + i * shape_.pixels());
    out.labels[i] = images_->labels[image];
  }
}

void Loader::load_image(const std::uint8_t* from, const View& view, float* to) const {
  // The batch is reused, so the border is cleared every time. Clearing the whole image is cheaper
  // than clearing the border in pieces.
  if (padding_ > 0) std::fill_n(to, shape_.pixels(), 0.0f);
  const ImageShape& source = images_->shape;
  for (const Table& table : tables_) {
    to += padding_ * std::ptrdiff_t{shape_.width};
    for (int y = 0; y < source.height; ++y) {
      const int row = y + view.down;
      if (row < 0 || row >= source.height)
        std::fill_n(to + padding_, source.width, table[0]);
      else
        load_row(from + row * std::ptrdiff_t{source.width}, table, view, to + padding_);
      to += shape_.width;
    }
    from += std::ptrdiff_t{source.height} * source.width;
    to += padding_ * std::ptrdiff_t{shape_.width};
  }
}

void Loader::load_row(const std::uint8_t* from, const Table& table, const View& view,
                      float* to) const {
  const int width = images_->shape.width;
  // Columns begin … end − 1 of the result lie in the image; the others are black.
  const int begin = std::clamp(-view.right, 0, width);
  const int end = std::clamp(width - view.right, 0, width);
  std::fill(to, to + begin, table[0]);
  std::fill(to + end, to + width, table[0]);
  if (view.mirrored)
    for (int x = begin; x < end; ++x) to[x] = table[from[width - 1 - (x + view.right)]];
  else
    for (int x = begin; x < end; ++x) to[x] = table[from[x + view.right]];
}

}  // namespace lockstep::internal::data
