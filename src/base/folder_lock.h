// FolderLock: lets one process per host at a time work in a folder. The kernel holds the lock and
// releases it when the process ends, for any reason; no file is left in the folder.
#pragma once

#include "base/unique_fd.h"

#include <filesystem>
#include <string_view>

namespace lockstep::internal {

class FolderLock {
 public:
  /// Throws FileError with the folder's name and the remedy `taken` if another process (or another
  /// FolderLock of this process) holds the lock. Holds nothing if the folder does not exist or its
  /// file system does not support such locks.
  FolderLock(const std::filesystem::path& folder, std::string_view taken);

  /// Whether a lock on the folder is held. The question never makes a constructor fail.
  static bool is_held(const std::filesystem::path& folder);

 private:
  UniqueFd folder_;
};

}  // namespace lockstep::internal
