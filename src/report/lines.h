// The lines of a file that may be longer than memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>

namespace lockstep::report {

struct Line {
  std::string_view text;   ///< without its end
  std::size_t number = 0;  ///< from 1
  bool whole = true;       ///< false for a last one that has no end
};

/// Calls `take` with each line in turn; its text lives until `take` returns. Throws FileError if
/// the file cannot be read or has a line of more than a megabyte.
void for_each_line(const std::filesystem::path& file, const std::function<void(const Line&)>& take);

}  // namespace lockstep::report
