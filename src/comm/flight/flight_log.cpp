#include "comm/flight/flight_log.h"

#include "base/hash/quick_hash.h"
#include "comm/flight/flight_words.h"

#include <algorithm>
#include <array>

namespace lockstep::internal::comm {

namespace {

constexpr auto kAcquire = std::memory_order_acquire;

template <std::size_t count>
std::array<std::uint64_t, count> copy_of(
    const std::array<std::atomic<std::uint64_t>, count>& words) {
  std::array<std::uint64_t, count> copy{};
  for (std::size_t i = 0; i < count; ++i) copy[i] = words[i].load(kAcquire);
  return copy;
}

/// Whether the slot was never used.
bool is_new(const FlightWords& words, std::uint64_t check, std::uint64_t end) {
  return check == 0 && end == 0 &&
         std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}

std::optional<FlightRecord> record_in(const FlightMemory& memory, std::size_t index,
                                      const FlightWords& words, std::uint64_t check) {
  if (check != quick_hash(std::span<const std::uint64_t>(words)) ||
      (words[0] - 1) % kFlightRecords != index)
    return std::nullopt;
  const std::uint64_t end = memory.slots[index].end.load(kAcquire);
  // The slot may have been reused for another operation while it was read.
  if (memory.slots[index].check.load(kAcquire) != check) return std::nullopt;
  return record_of(words, end);
}

/// Drops records that are older than the ring can hold: later operations have reused the adjacent
/// slots.
void leave_out_old(FlightLog& log) {
  if (log.records.empty()) return;
  const std::uint64_t newest = log.records.back().number;
  log.damaged += std::erase_if(log.records, [&](const FlightRecord& record) {
    return newest - record.number >= kFlightRecords;
  });
}

std::string folder_in(const FlightMemory& memory) {
  const auto words = copy_of(memory.folder);
  if (memory.folder_check.load(kAcquire) != quick_hash(std::span<const std::uint64_t>(words)))
    return {};
  const std::string text(reinterpret_cast<const char*>(words.data()), kFlightFolderBytes);
  return text.substr(0, text.find('\0'));
}

}  // namespace

FlightLog read_flight_log(const FlightMemory& memory, int rank) {
  FlightLog log{.rank = rank};
  for (std::size_t i = 0; i < kFlightRecords; ++i) {
    const FlightWords words = copy_of(memory.slots[i].words);
    const std::uint64_t check = memory.slots[i].check.load(kAcquire);
    if (const auto record = record_in(memory, i, words, check))
      log.records.push_back(*record);
    else if (!is_new(words, check, memory.slots[i].end.load(kAcquire)))
      ++log.damaged;
  }
  std::sort(log.records.begin(), log.records.end(),
            [](const FlightRecord& a, const FlightRecord& b) { return a.number < b.number; });
  leave_out_old(log);
  const auto step = copy_of(memory.step);
  if (step[0] == ~step[1])
    log.step = step[0];
  else if (!log.records.empty())
    log.step = log.records.back().step;
  log.folder = folder_in(memory);
  return log;
}

}  // namespace lockstep::internal::comm
