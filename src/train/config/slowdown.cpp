#include "train/config/slowdown.h"

#include <lockstep/error.h>

#include "base/number.h"
#include "base/text.h"

#include <fmt/format.h>

namespace lockstep::internal::train {

Slowdown Slowdown::parse(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  const std::string_view after =
      colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1);
  const double milliseconds = number_in<double>(after).value_or(-1);
  if (!(milliseconds >= 0) || milliseconds > 1e6)
    throw UsageError(fmt::format(
        "--slow is '{}': it must be a rank and milliseconds up to a million, like 1:20", text));
  const auto rank = parse_integer(text.substr(0, colon), "--slow's rank", 0, 1023);
  return {static_cast<int>(rank), std::chrono::duration<double, std::milli>(milliseconds)};
}

}  // namespace lockstep::internal::train
