#include "comm/flight/flight_record.h"

#include "comm/flight/flight_words.h"

#include <cmath>

namespace lockstep::comm {

namespace {

constexpr Algorithm kLastAlgorithm = Algorithm::native;
constexpr std::uint64_t kMostRanks = 1 << 16;

std::uint64_t byte_of(std::uint64_t word, int place) {
  return word >> place & 0xff;
}

/// A moment on a clock that has not run for a million years.
bool is_moment(double seconds) {
  return std::isfinite(seconds) && seconds > 0 && seconds < 3e13;
}

}  // namespace

std::string_view FlightRecord::name() const {
  if (is_message()) return incoming ? "recv" : "send";
  return name_of(operation);
}

std::uint32_t group_mark(std::string_view group) {
  std::uint32_t mark = 2166136261;
  for (char letter : group) mark = (mark ^ static_cast<unsigned char>(letter)) * 16777619;
  return mark;
}

std::optional<FlightRecord> record_of(const FlightWords& words, std::uint64_t end) {
  const std::uint64_t operation = byte_of(words[1], 0), algorithm = byte_of(words[1], 8);
  if (operation > static_cast<std::uint64_t>(kLastOperation) || byte_of(words[1], 16) > 1 ||
      algorithm > static_cast<std::uint64_t>(kLastAlgorithm))
    return std::nullopt;
  FlightRecord record{.operation = static_cast<Operation>(operation),
                      .algorithm = static_cast<Algorithm>(algorithm),
                      .incoming = byte_of(words[1], 16) == 1,
                      .group = static_cast<std::uint32_t>(words[1] >> 32),
                      .bytes = words[3],
                      .step = words[4] & ((std::uint64_t{1} << kFlightStepBits) - 1),
                      .bucket = static_cast<std::int32_t>(words[4] >> kFlightStepBits) - 1,
                      .number = words[0],
                      .begin = std::bit_cast<double>(words[5])};
  if (record.is_message() && words[2] >= kMostRanks) return std::nullopt;
  if (record.is_message())
    record.peer = static_cast<std::int32_t>(words[2]);
  else
    record.sequence = words[2];
  if (record.number == 0 || !is_moment(record.begin)) return std::nullopt;
  const double when = std::bit_cast<double>(end);
  record.failed = std::signbit(when);
  record.end = std::abs(when);
  if (end != 0 && (!is_moment(record.end) || record.end < record.begin)) return std::nullopt;
  return record;
}

}  // namespace lockstep::comm
