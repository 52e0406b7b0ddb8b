// Writes pictures as PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::internal::data {

/// A picture in memory: rows from the top, each pixel red, green and blue.
struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> pixels;  ///< width × height × 3

  Picture(std::size_t picture_width, std::size_t picture_height, std::uint8_t grey)
      : width(picture_width), height(picture_height), pixels(width * height * 3, grey) {}

  std::uint8_t* at(std::size_t y, std::size_t x) { return pixels.data() + (y * width + x) * 3; }
};

/// The content of a PNG file: 8 bits per channel, not interlaced. REQUIRES: sides from 1 to 2^16.
std::string encode_png(const Picture& picture);

}  // namespace lockstep::internal::data
