#include "base/folder_lock.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <sys/file.h>

#include <cerrno>

namespace lockstep::internal {

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view taken)
    : folder_(open_file(folder, O_RDONLY | O_DIRECTORY)) {
  if (folder_ && ::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw FileError(fmt::format("{}: {}", folder.string(), taken));
}

}  // namespace lockstep::internal
