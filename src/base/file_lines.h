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

/// Calls `take` with each line in turn; the text is valid until `take` returns. Throws FileError if
/// the file cannot be read or has a line of more than a megabyte.
void for_each_line(const std::filesystem::path& file,
                   const std::function<void(const FileLine&)>& take);

}  // namespace lockstep::internal
