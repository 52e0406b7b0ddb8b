#include "launch/process/lines.h"

#include <algorithm>
#include <utility>

namespace lockstep::internal::launch {

std::vector<std::string> LineCutter::add(std::string_view bytes) {
  std::vector<std::string> whole;
  while (!bytes.empty()) {
    const std::size_t room = kLongest - rest_.size();
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    const std::size_t length = std::min(end, room);
    rest_.append(bytes.substr(0, length));
    bytes.remove_prefix(length);
    if (rest_.back() == '\n' || rest_.size() == kLongest) whole.push_back(take_rest());
  }
  return whole;
}

std::string LineCutter::take_rest() {
  return std::exchange(rest_, {});
}

void LastLines::add(std::string_view bytes) {
  for (char byte : bytes) {
    if (byte == '\n') {
      end_line();
      continue;
    }
    // A progress bar that is redrawn is one line: its last state.
    if (!current_.empty() && current_.back() == '\r') current_.clear();
    if (current_.size() < kLength || byte == '\r') current_ += byte;
  }
}

void LastLines::end_line() {
  if (!current_.empty() && current_.back() == '\r') current_.pop_back();
  lines_.push_back(std::exchange(current_, {}));
  if (lines_.size() > kLines) lines_.pop_front();
}

std::vector<std::string> LastLines::lines() const {
  LastLines all = *this;
  if (!all.current_.empty()) all.end_line();
  return {all.lines_.begin(), all.lines_.end()};
}

}  // namespace lockstep::internal::launch
