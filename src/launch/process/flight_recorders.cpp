#include "launch/process/flight_recorders.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "launch/environment/environment.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include <limits>

namespace lockstep::internal::launch {

namespace {

constexpr const char* kVariable = "LOCKSTEP_RECORDERS";

constexpr std::size_t kBytes = sizeof(comm::FlightMemory);

}  // namespace

FlightRecorders::FlightRecorders(int workers)
    : workers_(workers),
      segment_(comm::make_segment(static_cast<std::size_t>(workers) * kBytes, true)) {
  // Each worker maps its own part, so that a faulty worker cannot corrupt the others'.
  if (segment_.memory)
    ::madvise(segment_.memory.get(), static_cast<std::size_t>(workers) * kBytes, MADV_DONTFORK);
}

std::map<std::string, std::string> FlightRecorders::variables() const {
  if (!segment_.memory) return {};
  return {{kVariable, fmt::format("{}:{}:{}", ::getpid(), segment_.fd.get(), workers_)}};
}

std::vector<comm::FlightLog> FlightRecorders::read(int first_rank) const {
  std::vector<comm::FlightLog> logs;
  if (!segment_.memory) return logs;
  const auto* memory = reinterpret_cast<const comm::FlightMemory*>(segment_.memory.get());
  for (int worker = 0; worker < workers_; ++worker)
    logs.push_back(comm::read_flight_log(memory[worker], first_rank + worker));
  return logs;
}

std::shared_ptr<comm::FlightMemory> own_flight_memory() {
  constexpr int kHighest = std::numeric_limits<int>::max();
  try {
    const std::vector<std::string> words = split(process_variable(kVariable).value_or(""), ':');
    if (words.size() != 3) return nullptr;
    std::vector<int> numbers;
    for (const std::string& word : words)
      numbers.push_back(static_cast<int>(parse_integer(word, kVariable, 0, kHighest)));
    const Place place = find_place();
    const int worker = place.local_rank.value_or(place.rank);
    if (worker >= numbers[2]) return nullptr;
    const comm::SegmentPart mine{static_cast<std::size_t>(worker),
                                 static_cast<std::size_t>(numbers[2]), kBytes};
    auto memory = comm::map_segment_part(numbers[0], numbers[1], mine, "the launcher");
    return {memory, reinterpret_cast<comm::FlightMemory*>(memory.get())};
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace lockstep::internal::launch
