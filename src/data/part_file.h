// A file that is not whole yet: what a download or an archive fills.
#pragma once

#include <lockstep/error.h>

#include "base/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace lockstep::data {

/// A file that could not be written: nothing that came from outside is to blame. Everything else
/// that goes wrong with files is a plain FileError.
class WriteError : public FileError {
 public:
  using FileError::FileError;
};

/// Keeps what an earlier process left at its path, and appends to it. Locked while it is open: a
/// second process gets a WriteError. Stays on the disk unless it is renamed or removed.
class PartFile {
 public:
  /// Throws WriteError.
  explicit PartFile(const std::filesystem::path& path);

  std::uint64_t bytes() const { return bytes_; }

  /// Both throw WriteError, with what to do about a full disk.
  void append(std::string_view content);
  void clear();

  /// Brings all to the disk, then gives the file its final name, replacing what has it. Throws
  /// WriteError. REQUIRES: nothing is appended after it.
  void finish(const std::filesystem::path& path);

 private:
  [[noreturn]] void fail(std::string_view what) const;

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace lockstep::data
