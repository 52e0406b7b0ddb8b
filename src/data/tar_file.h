// The files in a tar archive, gzip or plain, one after another: as much of tar as published data
// sets need, and nothing that could do harm.
//
// Refused, all with FileError and the offset in the decompressed content: links, devices and
// whatever else is neither a file nor a folder; names that are absolute or climb with ".."; damaged
// headers; an archive that ends early. pax headers are skipped: they tell times and owners.
#pragma once

#include "data/gzip_file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace lockstep::data {

inline constexpr std::size_t kTarBlock = 512;

/// What the block before each member of an archive says of it.
struct TarHeader {
  enum class Kind { file, folder, extension, end };

  Kind kind = Kind::end;
  std::string name;         ///< relative, without ".."
  std::uint64_t bytes = 0;  ///< of content, which follows in whole blocks

  bool operator==(const TarHeader&) const = default;
};

/// Throws FileError that says what is wrong, without file and offset, which the caller knows.
TarHeader parse_tar_header(std::span<const std::uint8_t, kTarBlock> block);

/// For one thread at a time.
class TarFile {
 public:
  /// Throws FileError if the archive cannot be opened.
  explicit TarFile(const std::filesystem::path& path) : file_(path) {}

  /// The next file of the archive; whatever was not read of the one before is skipped. None at the
  /// archive's end.
  std::optional<TarHeader> next();

  /// Fills `out` with the file's next bytes and returns how many: fewer than asked for only at the
  /// file's end.
  std::size_t read(std::span<std::uint8_t> out);

 private:
  using Block = std::array<std::uint8_t, kTarBlock>;

  void fill(std::span<std::uint8_t> out);
  void skip_rest();
  TarHeader read_header();

  GzipFile file_;
  std::uint64_t left_ = 0;     // bytes of the file under way
  std::uint64_t padding_ = 0;  // bytes from its end to that of its last block
};

}  // namespace lockstep::data
