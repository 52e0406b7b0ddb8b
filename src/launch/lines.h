// Lines of a worker's output, as they come in pieces of any size.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::launch {

/// Cuts a stream at its line ends.
class LineCutter {
 public:
  static constexpr std::size_t kLongest = 64 * 1024;

  /// The lines that are whole now, each with its end. A line longer than kLongest comes in several
  /// parts without an end.
  std::vector<std::string> add(std::string_view bytes);

  /// What was begun and has no end yet; forgets it.
  std::string take_rest();
  bool has_rest() const { return !rest_.empty(); }

 private:
  std::string rest_;
};

/// The last lines of a stream, each cut to a length fit for a report.
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

}  // namespace lockstep::launch
