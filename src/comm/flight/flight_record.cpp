#include "comm/flight/flight_record.h"

#include "comm/flight/flight_words.h"

#include <cmath>

namespace lockstep::internal::comm {

namespace {

constexpr Algorithm kLastAlgorithm = Algorithm::native;
constexpr std::uint64_t kMostRanks = 1 << 16;

std::uint64_t byte_of(std::uint64_t word, int place) {
  return word >> place & 0xff;
}

// The lowest bits of a failed operation's end: the reason, and the culprit's rank + 1. The time
// loses less than a millisecond of precision in the first month of a machine's uptime.
constexpr int kWhyBits = 2;
constexpr int kFailureBits = kWhyBits + 17;
constexpr std::uint64_t kFailureMask = (std::uint64_t{1} << kFailureBits) - 1;
constexpr auto kLastWhy = FlightFailure::Why::lost;

/// A time on a clock that has run for less than a million years.
bool is_moment(double seconds) {
  return std::isfinite(seconds) && seconds > 0 && seconds < 3e13;
}

bool read_failure(std::uint64_t bits, FlightFailure& failure) {
  const std::uint64_t why = bits & ((1 << kWhyBits) - 1), blamed = bits >> kWhyBits;
  if (why > static_cast<std::uint64_t>(kLastWhy) || blamed > kMostRanks) return false;
  failure = {static_cast<FlightFailure::Why>(why), static_cast<std::int32_t>(blamed) - 1};
  return true;
}

}  // namespace

std::string_view FlightRecord::name() const {
  if (is_message()) return incoming ? "recv" : "send";
  return name_of(operation);
}

std::uint64_t end_word(double when, const FlightFailure& failure) {
  // Rounds up to the next time without these bits, which is not before the operation began.
  const std::uint64_t moment = (end_word(when) & ~kFailureMask) + kFailureMask + 1;
  const auto blamed = static_cast<std::uint64_t>(failure.blamed + 1);
  return end_word(-std::bit_cast<double>(moment | blamed << kWhyBits |
                                         static_cast<std::uint64_t>(failure.why)));
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
  record.failed = std::signbit(std::bit_cast<double>(end));
  record.end = std::abs(std::bit_cast<double>(record.failed ? end & ~kFailureMask : end));
  if (record.failed && !read_failure(end & kFailureMask, record.failure)) return std::nullopt;
  if (end != 0 && (!is_moment(record.end) || record.end < record.begin)) return std::nullopt;
  return record;
}

}  // namespace lockstep::internal::comm
