#include "base/file_lines.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

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

}  // namespace lockstep::internal
