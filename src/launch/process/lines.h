// Splits a worker's output, which arrives in pieces of any size, into lines.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::launch {

/// Splits a stream at its newlines.
class LineCutter {
 public:
  static constexpr std::size_t kLongest = 64 * 1024;

  /// The lines that are complete now, each with its newline. A line longer than kLongest is
  /// returned in several parts without a newline.
  std::vector<std::string> add(std::string_view bytes);

  /// Returns and clears the incomplete last line.
  std::string take_rest();
  bool has_rest() const { return !rest_.empty(); }

 private:
  std::string rest_;
};

/// The last lines of a stream, each cut to a length suitable for a report.
class LastLines {
 public:
  static constexpr std::size_t kLines = 10;
  static constexpr std::size_t kLength = 500;

  void add(std::string_view bytes);
  std::vector<std::string> lines() const;

 private:
  void end_line();

  std::deque<std::string> lines_;
  std::string current_;
};

}  // namespace lockstep::internal::launch
