#include "base/file_lines.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/unique_fd.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace lockstep::internal {

namespace {

constexpr std::size_t kLongest = 1 << 20;

/// Appends the next bytes of the file; false at its end.
bool read_more(int fd, std::string& text, const std::filesystem::path& file) {
  const std::size_t before = text.size();
  text.resize(before + kLongest);
  ssize_t got = 0;
  do {
    got = ::read(fd, text.data() + before, kLongest);
  } while (got < 0 && errno == EINTR);
  if (got < 0)
    throw FileError(fmt::format("{}: cannot read: {}", file.string(), last_system_error()));
  text.resize(before + static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

void for_each_line(const std::filesystem::path& file,
                   const std::function<void(const FileLine&)>& take) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw FileError(fmt::format("{}: cannot open: {}", file.string(), last_system_error()));
  std::string text;
  FileLine line;
  while (read_more(fd.get(), text, file)) {
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      line.text = std::string_view(text).substr(begin, end - begin);
      ++line.number;
      take(line);
    }
    text.erase(0, begin);
    if (text.size() > kLongest)
      throw FileError(fmt::format("{}: line {}: longer than any line that Lockstep writes",
                                  file.string(), line.number + 1));
  }
  if (text.empty()) return;
  take({text, line.number + 1, false});
}

}  // namespace lockstep::internal
