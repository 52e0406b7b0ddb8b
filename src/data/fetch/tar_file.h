// Reads the files of a tar archive, gzip or plain, one after another. Supports the parts of tar
// that published data sets use, and nothing unsafe.
//
// Refused with FileError and the offset in the decompressed content: links, devices and other
// members that are neither file nor folder; absolute names and names with ".."; damaged headers; an
// archive that ends early. pax headers, which hold times and owners, are skipped.
#pragma once

#include "data/gzip_file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace lockstep::internal::data {

inline constexpr std::size_t kTarBlock = 512;

/// The header block of an archive's member.
struct TarHeader {
  enum class Kind { file, folder, extension, end };

  Kind kind = Kind::end;
  std::string name;         ///< relative, without ".."
  std::uint64_t bytes = 0;  ///< size of the content, which follows in whole blocks

  bool operator==(const TarHeader&) const = default;
};

/// Throws FileError with the fault; the caller adds file and offset.
TarHeader parse_tar_header(std::span<const std::uint8_t, kTarBlock> block);

/// Thread safety: one thread at a time.
class TarFile {
 public:
  /// Throws FileError if the archive cannot be opened.
  explicit TarFile(const std::filesystem::path& path) : file_(path) {}

  /// The next file of the archive, or none at its end. Skips the unread rest of the previous file.
  std::optional<TarHeader> next();

  /// Fills `out` with the file's next bytes and returns their number: fewer than requested only at
  /// the file's end.
  std::size_t read(std::span<std::uint8_t> out);

 private:
  using Block = std::array<std::uint8_t, kTarBlock>;

  void fill(std::span<std::uint8_t> out);
  void skip_rest();
  TarHeader read_header();

  GzipFile file_;
  std::uint64_t left_ = 0;     // unread bytes of the current file
  std::uint64_t padding_ = 0;  // bytes from its end to the end of its last block
};

}  // namespace lockstep::internal::data
