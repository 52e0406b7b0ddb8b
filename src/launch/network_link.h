// The speed of a network link, as people write it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::launch {

struct NetworkLink {
  std::uint64_t bits_per_second = 1'000'000'000;  ///< each way
  std::chrono::microseconds latency{0};           ///< that every packet takes longer, each way

  /// "1 Gbit/s", and with a latency "1 Gbit/s and 50 µs".
  std::string text() const;
};

/// "100mbit" → 100000000; units are kbit, mbit and gbit, powers of 1000. Throws UsageError that
/// names the option.
std::uint64_t parse_bandwidth(std::string_view text, std::string_view option);

/// "50us" → 50 µs; units are us and ms. Throws UsageError that names the option.
std::chrono::microseconds parse_latency(std::string_view text, std::string_view option);

}  // namespace lockstep::launch
