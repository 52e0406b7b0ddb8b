// The speed of a network link, and its text form.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::internal::launch {

struct NetworkLink {
  std::uint64_t bits_per_second = 1'000'000'000;  ///< in each direction
  std::chrono::microseconds latency{0};           ///< added to every packet, in each direction

  /// "1 Gbit/s", and with a latency "1 Gbit/s and 50 µs".
  std::string text() const;
};

/// "100mbit" → 100000000; units are kbit, mbit and gbit, powers of 1000. Throws UsageError, which
/// names the option.
std::uint64_t parse_bandwidth(std::string_view text, std::string_view option);

/// "50us" → 50 µs; units are us and ms. Throws UsageError, which names the option.
std::chrono::microseconds parse_latency(std::string_view text, std::string_view option);

}  // namespace lockstep::internal::launch
