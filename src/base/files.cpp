#include "base/files.h"

#include <lockstep/error.h>

#include "base/unique_fd.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace lockstep::internal {

namespace fs = std::filesystem;

std::string last_system_error() {
  return std::system_category().message(errno);
}

std::string read_file(const fs::path& path, std::uint64_t limit) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    throw FileError(fmt::format("{}: cannot open: {}", path.string(), last_system_error()));
  std::string content;
  char block[1 << 16];
  for (;;) {
    ssize_t got = ::read(file.get(), block, sizeof block);
    if (got == 0) return content;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw FileError(fmt::format("{}: cannot read at offset {}: {}", path.string(), content.size(),
                                  last_system_error()));
    }
    content.append(block, static_cast<std::size_t>(got));
    if (content.size() > limit)
      throw FileError(fmt::format("{}: longer than the {} bytes allowed", path.string(), limit));
  }
}

namespace {

void write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0) {
      if (errno == EINTR) continue;
      throw FileError(fmt::format("{}: cannot write: {}", path.string(), last_system_error()));
    }
    content.remove_prefix(static_cast<std::size_t>(put));
  }
}

/// Syncs the folder, so that a new name in it survives a power failure. Some file systems do not
/// support this and do not need it.
void sync_folder(const fs::path& folder, const fs::path& path) {
  const UniqueFd file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file && ::fsync(file.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    throw FileError(fmt::format("{}: written, but its folder could not be synced to disk: {}",
                                path.string(), last_system_error()));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

void write_file(const fs::path& path, std::string_view content) {
  // The process id keeps two writers of one path from using the same temporary file.
  fs::path temporary = path;
  temporary += fmt::format(".{}.part", ::getpid());
  UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file)
    throw FileError(fmt::format("{}: cannot create: {}", path.string(), last_system_error()));
  try {
    write_all(file.get(), content, path);
    if (::fsync(file.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
      throw FileError(fmt::format("{}: cannot write: {}", path.string(), last_system_error()));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder_of(path), path);
}

void require_writable(const fs::path& path) {
  const fs::path folder = folder_of(path);
  if (fs::is_directory(path))
    throw FileError(fmt::format("{}: is a folder, not a file to write", path.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw FileError(fmt::format("{}: cannot be written: {}: {}", path.string(), folder.string(),
                                last_system_error()));
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw FileError(fmt::format("{}: cannot make this folder: {}", path.string(), error.message()));
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    throw FileError(
        fmt::format("{}: cannot write in this folder: {}", path.string(), last_system_error()));
}

}  // namespace lockstep::internal
