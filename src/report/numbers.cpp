#include "report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::internal::report {

std::string fixed(Number value, int digits) {
  return value && std::isfinite(*value) ? fmt::format("{:.{}f}", *value, digits) : "–";
}

std::string percent(Number fraction) {
  return fraction ? fixed(100 * *fraction, 1) : "–";
}

std::string milliseconds(Number seconds) {
  return seconds ? fixed(1000 * *seconds, 3) : "–";
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} bytes", bytes);
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace lockstep::internal::report
