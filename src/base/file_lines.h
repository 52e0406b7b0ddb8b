// Reads the lines of a file that may be larger than memory, or that grows.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

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

/// Reads the lines that another process adds to a file. The file need not exist yet.
class FollowedLines {
 public:
  /// Of a longer file, only the lines in the last `most` bytes are read.
  explicit FollowedLines(std::filesystem::path file,
                         std::uint64_t most = std::numeric_limits<std::uint64_t>::max())
      : file_(std::move(file)), most_(most) {}

  /// Calls `take` with each line that was completed since the last call. Calls `restart` before if
  /// all lines are read from the start, because the file was replaced, cut or removed. Reads
  /// nothing if the file has not grown. Returns whether anything was called. A file that cannot be
  /// read counts as removed. Lines of more than a megabyte are skipped.
  bool read(const std::function<void()>& restart,
            const std::function<void(std::string_view)>& take);

 private:
  bool restart_if_replaced(ino_t inode, std::uint64_t size);
  bool read_from(int fd, const std::function<void(std::string_view)>& take);

  const std::filesystem::path file_;
  const std::uint64_t most_;
  ino_t inode_ = 0;             ///< 0 while there is no file
  std::uint64_t size_ = 0;      ///< of the file when it was last read
  std::uint64_t position_ = 0;  ///< of the first line not yet taken
  bool within_line_ = false;    ///< the line at `position_` is to be skipped
};

}  // namespace lockstep::internal
