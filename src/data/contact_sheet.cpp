#include "data/contact_sheet.h"

#include <lockstep/error.h>

#include <fmt/format.h>

namespace lockstep::internal::data {

namespace {

constexpr std::size_t kGap = 4;  // pixels around every image
constexpr std::uint8_t kPaper = 255;

struct Cell {
  std::size_t height;
  std::size_t width;
};

Picture empty_sheet(const Images& images, const Cell& cell, std::size_t columns) {
  constexpr std::size_t kMostSide = 1 << 16;
  constexpr std::size_t kMostPixels = 1 << 28;
  const std::size_t width = kGap + columns * cell.width;
  const std::size_t height = kGap + static_cast<std::size_t>(images.classes) * cell.height;
  if (width > kMostSide || height > kMostSide || width * height > kMostPixels)
    throw UsageError(
        fmt::format("a sheet of {}×{} pixels is too large: omit --sheet for images of this size",
                    width, height));
  return Picture(width, height, kPaper);
}

void paste(const std::uint8_t* image, const ImageShape& shape, std::size_t zoom, Picture& sheet,
           std::size_t top, std::size_t left) {
  const auto height = static_cast<std::size_t>(shape.height);
  const auto width = static_cast<std::size_t>(shape.width);
  for (std::size_t y = 0; y < height * zoom; ++y)
    for (std::size_t x = 0; x < width * zoom; ++x)
      for (std::size_t colour = 0; colour < 3; ++colour) {
        const std::size_t channel = shape.channels == 3 ? colour : 0;
        sheet.at(top + y, left + x)[colour] =
            image[(channel * height + y / zoom) * width + x / zoom];
      }
}

}  // namespace

Picture contact_sheet(const Images& images, const ContactSheetOptions& options) {
  const Cell cell{.height = static_cast<std::size_t>(images.shape.height) * options.zoom + kGap,
                  .width = static_cast<std::size_t>(images.shape.width) * options.zoom + kGap};
  Picture sheet = empty_sheet(images, cell, options.columns);
  std::vector<std::size_t> shown(static_cast<std::size_t>(images.classes));
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::size_t row = images.labels[i];
    if (shown[row] == options.columns) continue;
    paste(images.pixels.data() + i * images.shape.pixels(), images.shape, options.zoom, sheet,
          kGap + row * cell.height, kGap + shown[row]++ * cell.width);
  }
  return sheet;
}

}  // namespace lockstep::internal::data
