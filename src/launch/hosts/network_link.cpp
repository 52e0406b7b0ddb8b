#include "launch/hosts/network_link.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace lockstep::internal::launch {

namespace {

using Units = std::vector<std::pair<std::string_view, double>>;

const Units kBandwidths{{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
const Units kLatencies{{"us", 1}, {"ms", 1e3}};

/// A number from `lowest` to `highest`, in the first unit's base, with its unit.
std::optional<std::uint64_t> parse(std::string_view text, const Units& units, double lowest,
                                   double highest) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  for (const auto& [unit, factor] : units)
    if (std::string_view(rest, end) == unit && number * factor >= lowest &&
        number * factor <= highest)
      return static_cast<std::uint64_t>(number * factor + 0.5);
  return std::nullopt;
}

/// Uses the largest unit for which the number is at least 1.
std::string format(double number, const Units& units) {
  auto unit = units.begin();
  for (auto larger = units.begin(); larger != units.end(); ++larger)
    if (number >= larger->second) unit = larger;
  return fmt::format("{:g} {}", number / unit->second, unit->first);
}

}  // namespace

std::string NetworkLink::text() const {
  const Units speeds{{"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}};
  std::string text = format(static_cast<double>(bits_per_second), speeds);
  if (latency.count() > 0)
    text += " and " + format(static_cast<double>(latency.count()), {{"µs", 1}, {"ms", 1e3}});
  return text;
}

std::uint64_t parse_bandwidth(std::string_view text, std::string_view option) {
  if (const auto bits = parse(text, kBandwidths, 8e3, 1e12)) return *bits;
  throw UsageError(fmt::format(
      "{} is '{}': write a number and kbit, mbit or gbit, from 8kbit to 1000gbit, as in "
      "100mbit",
      option, text));
}

std::chrono::microseconds parse_latency(std::string_view text, std::string_view option) {
  if (const auto microseconds = parse(text, kLatencies, 0, 1e6))
    return std::chrono::microseconds(*microseconds);
  throw UsageError(fmt::format("{} is '{}': write a number and us or ms, up to 1000ms, as in 50us",
                               option, text));
}

}  // namespace lockstep::internal::launch
