// FolderLock: one process of a host at a time works in a folder. The kernel holds the lock and ends
// it with the process, however that ends; nothing is left behind in the folder.
#pragma once

#include "base/unique_fd.h"

#include <filesystem>
#include <string_view>

namespace lockstep {

class FolderLock {
 public:
  /// Throws FileError with the folder's name and `taken`, which says what to do, if another process
  /// (or another FolderLock of this one) has it. Where there is no such folder, or its file system
  /// knows no such locks, it holds nothing.
  FolderLock(const std::filesystem::path& folder, std::string_view taken);

 private:
  UniqueFd folder_;
};

}  // namespace lockstep
