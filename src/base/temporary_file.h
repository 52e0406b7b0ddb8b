// A file for what lives only as long as this object.
#pragma once

#include <lockstep/error.h>

#include "base/files.h"
#include "base/unique_fd.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lockstep {

/// An empty file of its own, which only this user can read; removed with the object. Throws
/// FileError.
class TemporaryFile {
 public:
  TemporaryFile() {
    path_ = (std::filesystem::temp_directory_path() / "lockstep-XXXXXX").string();
    const UniqueFd file(::mkostemp(path_.data(), O_CLOEXEC));
    if (file.get() < 0)
      throw FileError(fmt::format("cannot make a file like {}: {}", path_, last_system_error()));
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lockstep
