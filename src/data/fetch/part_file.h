// A file that a download or an archive fills and that is not complete yet.
#pragma once

#include <lockstep/error.h>

#include "base/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace lockstep::internal::data {

/// A file could not be written: the cause is this machine, not the data received. Other file errors
/// are a plain FileError.
class WriteError : public FileError {
 public:
  using FileError::FileError;
};

/// Appends to the content that an earlier process left at its path. Locked while it is open: a
/// second process gets a WriteError. Stays on the disk unless it is renamed or removed.
class PartFile {
 public:
  /// Throws WriteError.
  explicit PartFile(const std::filesystem::path& path);

  std::uint64_t bytes() const { return bytes_; }

  /// Both throw WriteError, with a remedy for a full disk.
  void append(std::string_view content);
  void clear();

  /// Syncs the file to the disk and renames it, replacing an existing file. Throws WriteError.
  /// REQUIRES: nothing is appended after it.
  void finish(const std::filesystem::path& path);

 private:
  [[noreturn]] void fail(std::string_view what) const;

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace lockstep::internal::data
