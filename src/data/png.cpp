#include "data/png.h"

#include "base/check.h"

#include <zlib.h>

#include <string_view>

namespace lockstep::internal::data {

namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

// Length, type, content, and the checksum of type and content.
std::string chunk(std::string_view type, std::string_view content) {
  std::string body(type);
  body += content;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

// Each row begins with its filter type; 0 means unfiltered.
std::string rows_of(const Picture& picture) {
  const std::size_t bytes = picture.width * 3;
  std::string rows;
  rows.reserve(picture.height * (bytes + 1));
  for (std::size_t y = 0; y < picture.height; ++y) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(picture.pixels.data()) + y * bytes, bytes);
  }
  return rows;
}

std::string compress_all(const std::string& content) {
  uLongf bytes = compressBound(content.size());
  std::string out(bytes, '\0');
  const int result =
      compress2(reinterpret_cast<Bytef*>(out.data()), &bytes,
                reinterpret_cast<const Bytef*>(content.data()), content.size(), Z_BEST_COMPRESSION);
  LOCKSTEP_CHECK(result == Z_OK, "zlib failed with {}", result);
  out.resize(bytes);
  return out;
}

}  // namespace

std::string encode_png(const Picture& picture) {
  constexpr std::size_t kMostSide = 1 << 16;
  LOCKSTEP_CHECK(picture.width >= 1 && picture.width <= kMostSide && picture.height >= 1 &&
                     picture.height <= kMostSide &&
                     picture.pixels.size() == picture.width * picture.height * 3,
                 "a picture of {}×{} with {} bytes", picture.width, picture.height,
                 picture.pixels.size());
  // 8 bits, RGB, and the only defined compression, filtering and order.
  const std::string header = big_endian(static_cast<std::uint32_t>(picture.width)) +
                             big_endian(static_cast<std::uint32_t>(picture.height)) +
                             std::string("\x08\x02\x00\x00\x00", 5);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) +
         chunk("IDAT", compress_all(rows_of(picture))) + chunk("IEND", "");
}

}  // namespace lockstep::internal::data
