// The encoding of a FlightRecord in the words of its slot.
#pragma once

#include "comm/flight/flight_record.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

namespace lockstep::internal::comm {

using FlightWords = std::array<std::uint64_t, 6>;

constexpr int kFlightStepBits = 40;

inline FlightWords words_of(const FlightRecord& record) {
  const auto byte = [](auto value, int place) {
    return static_cast<std::uint64_t>(value) << place;
  };
  constexpr std::uint64_t kSteps = (std::uint64_t{1} << kFlightStepBits) - 1;
  return {record.number,
          byte(record.operation, 0) | byte(record.algorithm, 8) | byte(record.incoming, 16) |
              byte(record.group, 32),
          record.is_message() ? static_cast<std::uint64_t>(record.peer) : record.sequence,
          record.bytes,
          (record.step & kSteps) | byte(record.bucket + 1, kFlightStepBits),
          std::bit_cast<std::uint64_t>(record.begin)};
}

/// The word for an operation's end: the time, and for a failed operation the reason.
inline std::uint64_t end_word(double when) {
  return std::bit_cast<std::uint64_t>(when);
}
std::uint64_t end_word(double when, const FlightFailure& failure);

/// Empty if the words are not a valid record.
std::optional<FlightRecord> record_of(const FlightWords& words, std::uint64_t end);

}  // namespace lockstep::internal::comm
