// Reads the lines of a file that may be larger than memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>

namespace lockstep::internal {

struct FileLine {
  std::string_view text;   ///< without the newline
  std::size_t number = 0;  ///< from 1
  bool whole = true;       ///< false for a last line without a newline
};

enum class LongLines { refused, skipped };

/// Calls `take` with each line in turn; the text is valid until `take` returns. Throws FileError if
/// the file cannot be read or has a line of more than a megabyte that is not to be skipped.
void for_each_line(const std::filesystem::path& file,
                   const std::function<void(const FileLine&)>& take,
                   LongLines long_lines = LongLines::refused);

}  // namespace lockstep::internal
