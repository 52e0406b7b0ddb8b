#include "base/table/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal {

std::string three_digits(double number) {
  if (!std::isfinite(number)) return "–";
  const double size = std::abs(number);
  if (size == 0 || size >= 99.95) return fmt::format("{:.0f}", number);
  // The number of digits after the point, after rounding: 0.9996 is 1.00.
  const int digits = 2 - static_cast<int>(std::floor(std::log10(size * 1.0005)));
  return fmt::format("{:.{}f}", number, std::min(digits, 15));
}

std::string in_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 120) return three_digits(seconds / 60) + " min";
  if (size >= 0.9995) return three_digits(seconds) + " s";
  if (size >= 0.9995e-3 || size == 0) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds * 1e6) + " µs";
}

std::string in_percent(double fraction) {
  if (fraction > 0 && fraction < 0.005) return "less than 1 %";
  return fmt::format("{:.0f} %", 100 * fraction);
}

std::string in_bytes(double bytes) {
  if (bytes < 999.5) return counted(bytes, "byte");
  if (bytes < 0.9995e6) return three_digits(bytes / 1e3) + " kB";
  if (bytes < 0.9995e9) return three_digits(bytes / 1e6) + " MB";
  return three_digits(bytes / 1e9) + " GB";
}

std::string instead_of(double seconds, double before) {
  return fmt::format("{} instead of {}", in_seconds(seconds), in_seconds(before));
}

std::string times_as_fast(double gain) {
  return fmt::format("{} times as fast", three_digits(gain));
}

std::string counted(double number, const std::string& thing) {
  const double whole = std::round(number);
  return fmt::format("{:.0f} {}{}", whole, thing, whole == 1 ? "" : "s");
}

}  // namespace lockstep::internal
