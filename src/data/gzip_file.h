// Reads a file's content from front to back, gzip or plain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

struct gzFile_s;  // zlib's type, declared here so that users of this header need no zlib.h

namespace lockstep::internal::data {

/// Decompresses a gzip file while it reads; any other file is read as it is. Data after the gzip
/// stream are ignored, as gzip does. Thread safety: one thread at a time.
class GzipFile {
 public:
  /// Throws FileError if the file cannot be opened.
  explicit GzipFile(const std::filesystem::path& path);

  /// Fills `out` and returns the number of bytes read: fewer than requested only at the end. Throws
  /// FileError if the disk fails or the gzip data are damaged or truncated. The checksum of gzip
  /// data is compared when a read reaches the end.
  std::size_t read(std::span<std::uint8_t> out);

  /// Bytes of content read so far: the offset of the next read.
  std::uint64_t offset() const { return offset_; }

  const std::filesystem::path& path() const { return path_; }

  /// Throws FileError: the content at `offset` is not as the format demands.
  [[noreturn]] void fail(std::uint64_t offset, std::string_view expected, std::string_view found,
                         std::string_view right_file = "the right file") const;

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  void throw_if_damaged() const;

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::uint64_t offset_ = 0;
};

}  // namespace lockstep::internal::data
