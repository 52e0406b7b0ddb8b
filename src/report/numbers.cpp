#include "report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::internal::report {

std::string fixed(Number value, int digits) {
  if (!value || !std::isfinite(*value)) return "–";
  const bool huge = std::abs(*value) >= 1e9;  // the loss of a diverged run
  return huge ? fmt::format("{:.3g}", *value) : fmt::format("{:.{}f}", *value, digits);
}

std::string percent(Number fraction) {
  return fraction ? fixed(100 * *fraction, 1) : "–";
}

std::string milliseconds(Number seconds) {
  return seconds ? fixed(1000 * *seconds, 3) : "–";
}

}  // namespace lockstep::internal::report
