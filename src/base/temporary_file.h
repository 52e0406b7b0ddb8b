// Files that exist only as long as an object.
#pragma once

#include <lockstep/error.h>

#include "base/files.h"
#include "base/fork.h"
#include "base/unique_fd.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lockstep::internal {

/// Makes an empty file that only this user can read, and sets `path` to its path. Throws FileError.
inline UniqueFd open_temporary_file(std::string& path) {
  path = (std::filesystem::temp_directory_path() / "lockstep-XXXXXX").string();
  UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file)
    throw FileError(fmt::format("cannot make a file like {}: {}", path, last_system_error()));
  return file;
}

/// A temporary file, removed by the destructor, but not by the copy in a forked child.
class TemporaryFile {
 public:
  TemporaryFile() { open_temporary_file(path_); }
  ~TemporaryFile() {
    if (owner_.is_this_one()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const OwnerProcess owner_;
  std::string path_;
};

/// A temporary folder that only this user can read, removed with its content by the destructor, but
/// not by the copy in a forked child.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = (std::filesystem::temp_directory_path() / "lockstep-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr)
      throw FileError(fmt::format("cannot make a folder like {}: {}", path_, last_system_error()));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (owner_.is_this_one()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  const OwnerProcess owner_;
  std::string path_;
};

/// A temporary file without a name: it disappears with its last user, even one that is killed. This
/// program and its children can open it while the object exists, but cannot replace it.
class UnnamedFile {
 public:
  UnnamedFile() : file_(open_temporary_file(path_)) {
    ::unlink(path_.c_str());
    ::fcntl(file_.get(), F_SETFD, 0);
    path_ = fmt::format("/proc/self/fd/{}", file_.get());
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UniqueFd file_;
};

}  // namespace lockstep::internal
