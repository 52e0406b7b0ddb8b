#include "observe/quantities.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::internal::observe {

namespace {

std::string two_digits(double number) {
  if (number >= 9.95) return fmt::format("{:.0f}", number);
  return fmt::format("{:.{}f}", number, number >= 0.995 ? 1 : 2);
}

}  // namespace

std::string in_seconds(double seconds) {
  if (seconds >= 0.9995) return two_digits(seconds) + " s";
  return two_digits(1000 * seconds) + " ms";
}

std::string in_percent(double fraction) {
  if (fraction > 0 && fraction < 0.005) return "less than 1 %";
  return fmt::format("{:.0f} %", 100 * fraction);
}

std::string in_bytes(double bytes) {
  if (bytes >= 0.9995e6) return two_digits(bytes / 1e6) + " MB";
  return two_digits(bytes / 1e3) + " kB";
}

std::string instead_of(double seconds, double before) {
  return fmt::format("{} instead of {}", in_seconds(seconds), in_seconds(before));
}

std::string times_as_fast(double gain) {
  return fmt::format("{} times as fast", two_digits(gain));
}

std::string counted(double number, const std::string& thing) {
  const double whole = std::round(number);
  return fmt::format("{:.0f} {}{}", whole, thing, whole == 1 ? "" : "s");
}

}  // namespace lockstep::internal::observe
