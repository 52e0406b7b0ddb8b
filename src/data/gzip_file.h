// A file's content from front to back, whether the file is gzip or plain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

struct gzFile_s;  // zlib's, so that nobody who includes this needs zlib.h

namespace lockstep::data {

/// Decompresses a gzip file as it reads and takes any other file as it is. Whatever follows the
/// gzip data is ignored, as gzip itself does. For one thread at a time.
class GzipFile {
 public:
  /// Throws FileError if the file cannot be opened.
  explicit GzipFile(const std::filesystem::path& path);

  /// Fills `out` as far as the content goes and returns how many bytes that was: fewer than asked
  /// for only at the end. Throws FileError if the disk fails or the gzip data are damaged or cut
  /// short. The checksum of gzip data has been compared once a read has met the end.
  std::size_t read(std::span<std::uint8_t> out);

  /// Bytes of content that were read so far, which is where the next read begins.
  std::uint64_t offset() const { return offset_; }

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  void throw_if_damaged() const;

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::uint64_t offset_ = 0;
};

}  // namespace lockstep::data
