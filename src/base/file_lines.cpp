#include "base/file_lines.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace lockstep::internal {

namespace {

constexpr std::size_t kLongest = 1 << 20;

}  // namespace

void for_each_line(const std::filesystem::path& file,
                   const std::function<void(const FileLine&)>& take, LongLines long_lines) {
  const UniqueFd fd = open_file(file, O_RDONLY);
  if (!fd) throw FileError(fmt::format("{}: cannot open: {}", file.string(), last_system_error()));
  std::string text;
  FileLine line;
  bool in_long_line = false;
  ssize_t got = 0;
  while ((got = read_more(fd.get(), text, kLongest)) > 0) {
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      line.text = std::string_view(text).substr(begin, end - begin);
      ++line.number;
      if (!std::exchange(in_long_line, false)) take(line);
    }
    text.erase(0, begin);
    if (text.size() <= kLongest) continue;
    if (long_lines == LongLines::refused)
      throw FileError(fmt::format("{}: line {}: longer than any line that Lockstep writes",
                                  file.string(), line.number + 1));
    in_long_line = true;
    text.clear();
  }
  if (got < 0)
    throw FileError(fmt::format("{}: cannot read: {}", file.string(), last_system_error()));
  if (text.empty() || in_long_line) return;
  take({text, line.number + 1, false});
}

bool FollowedLines::restart_if_replaced(ino_t inode, std::uint64_t size) {
  if (inode == inode_ && size >= size_) return false;
  const bool replaced = inode_ != 0;
  inode_ = inode;
  within_line_ = size > most_;
  position_ = within_line_ ? size - most_ : 0;
  size_ = 0;
  return replaced;
}

bool FollowedLines::read_from(int fd, const std::function<void(std::string_view)>& take) {
  bool taken = false;
  std::string text;
  while (read_more(fd, text, kLongest) > 0) {
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (std::exchange(within_line_, false)) continue;
      take(std::string_view(text).substr(begin, end - begin));
      taken = true;
    }
    if (begin == 0 && text.size() > kLongest) {
      within_line_ = true;
      begin = text.size();
    }
    position_ += begin;
    text.erase(0, begin);
  }
  return taken;
}

bool FollowedLines::read(const std::function<void()>& restart,
                         const std::function<void(std::string_view)>& take) {
  const UniqueFd fd = open_file(file_, O_RDONLY);
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0) found = {};
  const auto size = static_cast<std::uint64_t>(found.st_size);
  const bool replaced = restart_if_replaced(found.st_ino, size);
  if (replaced) restart();
  if (size == size_) return replaced;
  size_ = size;
  ::lseek(fd.get(), static_cast<off_t>(position_), SEEK_SET);
  return read_from(fd.get(), take) || replaced;
}

}  // namespace lockstep::internal
