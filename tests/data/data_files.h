// What the tests of this folder write: a folder that goes away, idx files and gzip, right and
// wrong.
#pragma once

#include "base/files.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockstep::data {

/// A new folder of its own, removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "lockstep-data-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(last_system_error());
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(std::string_view name, std::string_view content) const {
    std::filesystem::path file = path_ / name;
    write_file(file, content);
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// The header of an idx file of unsigned bytes.
inline std::string idx_header(std::initializer_list<std::uint32_t> shape) {
  std::string bytes = big_endian(0x0800 | static_cast<std::uint32_t>(shape.size()));
  for (std::uint32_t dimension : shape) bytes += big_endian(dimension);
  return bytes;
}

/// The bytes 0, 1, 2 … 255, 0 …
inline std::string counting_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i & 0xff);
  return bytes;
}

/// `content` as a gzip file.
inline std::string gzip(const std::string& content) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header and checksum
  if (deflateInit2(&stream, 9, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2 failed");
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return out;
}

/// Expects `call` to throw an E whose message has all `parts`.
template <typename E, typename Call>
void expect_error(const Call& call, std::initializer_list<std::string_view> parts) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    const std::string_view message = error.what();
    for (std::string_view part : parts)
      EXPECT_NE(message.find(part), std::string_view::npos) << message << "\nlacks: " << part;
  }
}

}  // namespace lockstep::data
