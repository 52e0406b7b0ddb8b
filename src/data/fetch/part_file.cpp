#include "data/fetch/part_file.h"

#include "base/files.h"

#include <fmt/format.h>

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace lockstep::internal::data {

void PartFile::fail(std::string_view what) const {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  throw WriteError(
      fmt::format("{}: cannot {}: {}{}", path_.string(), what, last_system_error(),
                  full ? ": free some space, or choose another folder with --to, then run "
                         "the same command again"
                       : ""));
}

PartFile::PartFile(const std::filesystem::path& path)
    : path_(path), file_(open_file(path, O_WRONLY | O_CREAT | O_APPEND)) {
  if (!file_) fail("create");
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    throw WriteError(
        fmt::format("{}: another process is writing it: wait for it to end", path_.string()));
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail("read its size");
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

void PartFile::append(std::string_view content) {
  const std::size_t bytes = content.size();
  const bool written = write_from(file_.get(), content);
  bytes_ += bytes - content.size();
  if (!written) fail("write");
}

void PartFile::clear() {
  if (::ftruncate(file_.get(), 0) != 0) fail("write");
  bytes_ = 0;
}

void PartFile::finish(const std::filesystem::path& path) {
  if (::fsync(file_.get()) != 0 || ::rename(path_.c_str(), path.c_str()) != 0) fail("write");
}

}  // namespace lockstep::internal::data
