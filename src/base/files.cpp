#include "base/files.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

namespace lockstep::internal {

namespace fs = std::filesystem;

std::string last_system_error() {
  return std::system_category().message(errno);
}

UniqueFd open_file(const fs::path& path, int flags, mode_t mode) {
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC, mode));
}

void redirect_to_null(int fd) {
  const int nothing = ::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  if (nothing < 0 || nothing == fd) return;
  ::dup2(nothing, fd);
  ::close(nothing);
}

ssize_t read_more(int fd, std::string& content, std::size_t most) {
  const std::size_t before = content.size();
  content.resize(before + most);
  ssize_t got = 0;
  do {
    got = ::read(fd, content.data() + before, most);
  } while (got < 0 && errno == EINTR);
  content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got;
}

bool write_from(int fd, std::string_view& content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void write_all(int fd, std::string_view content, const fs::path& path) {
  if (!write_from(fd, content))
    throw FileError(fmt::format("{}: cannot write: {}", path.string(), last_system_error()));
}

std::string read_system_file(const fs::path& path) {
  const UniqueFd file = open_file(path, O_RDONLY);
  std::string content;
  while (file && read_more(file.get(), content, 1 << 12) > 0) {
  }
  return content;
}

double seconds_since_change(const fs::path& path) {
  std::error_code missing;
  const auto changed = fs::last_write_time(path, missing);
  if (missing) return 0;
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - changed;
  return std::max(age.count(), 0.0);
}

std::string read_file(const fs::path& path, std::uint64_t limit) {
  const UniqueFd file = open_file(path, O_RDONLY);
  if (!file)
    throw FileError(fmt::format("{}: cannot open: {}", path.string(), last_system_error()));
  std::string content;
  ssize_t got = 0;
  while ((got = read_more(file.get(), content, 1 << 16)) > 0)
    if (content.size() > limit)
      throw FileError(fmt::format("{}: longer than the {} bytes allowed", path.string(), limit));
  if (got < 0)
    throw FileError(fmt::format("{}: cannot read at offset {}: {}", path.string(), content.size(),
                                last_system_error()));
  return content;
}

namespace {

/// Syncs the folder, so that a new name in it survives a power failure. Some file systems do not
/// support this and do not need it.
void sync_folder(const fs::path& folder, const fs::path& path) {
  const UniqueFd file = open_file(folder, O_RDONLY | O_DIRECTORY);
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
  const UniqueFd file = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
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
