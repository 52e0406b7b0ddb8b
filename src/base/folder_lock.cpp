#include "base/folder_lock.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <sys/file.h>

#include <cerrno>

namespace lockstep::internal {

namespace {

UniqueFd open_folder(const std::filesystem::path& folder) {
  return open_file(folder, O_RDONLY | O_DIRECTORY);
}

/// Whether a FolderLock excludes this descriptor: is_held() takes shared locks, for a moment.
bool is_excluded(const UniqueFd& folder) {
  if (::flock(folder.get(), LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(folder.get(), LOCK_UN);
  return false;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view taken)
    : folder_(open_folder(folder)) {
  while (folder_ && ::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    if (is_excluded(folder_)) throw FileError(fmt::format("{}: {}", folder.string(), taken));
}

bool FolderLock::is_held(const std::filesystem::path& folder) {
  const UniqueFd opened = open_folder(folder);
  return opened && is_excluded(opened);
}

}  // namespace lockstep::internal
