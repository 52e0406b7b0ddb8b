#include "train/slowdown.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <charconv>
#include <thread>

namespace lockstep::train {

Slowdown Slowdown::parse(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  const char* end = text.data() + text.size();
  double milliseconds = -1;
  if (colon != std::string::npos) {
    const auto read = std::from_chars(text.data() + colon + 1, end, milliseconds);
    if (read.ec != std::errc() || read.ptr != end) milliseconds = -1;
  }
  if (!(milliseconds >= 0) || milliseconds > 1e6)
    throw UsageError(fmt::format(
        "--slow is '{}': it must be a rank and milliseconds up to a million, like 1:20", text));
  const auto rank = parse_integer(text.substr(0, colon), "--slow's rank", 0, 1023);
  return {static_cast<int>(rank), std::chrono::duration<double, std::milli>(milliseconds)};
}

void Slowdown::suffer(int my_rank) const {
  if (my_rank == rank && time.count() > 0) std::this_thread::sleep_for(time);
}

}  // namespace lockstep::train
