// A flight recorder's memory after a faulty rank: bytes of the input overwrite a valid one. The
// records that are read must be valid and printable.
#include "base/hash/quick_hash.h"
#include "comm/flight/flight_log.h"
#include "comm/flight/flight_recorder.h"
#include "fuzz.h"
#include "observe/post_mortem.h"
#include "run/post_mortem_file.h"

#include <cstring>

namespace lockstep::internal::fuzz {

using namespace comm;

std::vector<std::string> seeds() {
  return {std::string("\x00\x01\x10\xff", 4), std::string(64, 'a')};
}

namespace {

std::shared_ptr<FlightMemory> sound_memory() {
  auto memory = std::shared_ptr<FlightMemory>(new FlightMemory);
  std::memset(static_cast<void*>(memory.get()), 0, sizeof(FlightMemory));
  FlightRecorder recorder(memory);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    recorder.set_step(i);
    const std::uint64_t number =
        recorder.begin({.operation = Operation::all_reduce, .sequence = i, .begin = 1});
    if (i % 2 == 0)
      recorder.end(number, 2);
    else
      recorder.fail(number, 2, {});
    recorder.begin({.incoming = true, .peer = 3, .begin = 1.5});
  }
  return memory;
}

/// Pieces of the input, each preceded by its place and length.
void scribble(FlightMemory& memory, Input input) {
  auto* bytes = reinterpret_cast<char*>(&memory);
  while (!input.empty()) {
    const std::size_t place = (static_cast<std::size_t>(input.byte()) << 8 | input.byte()) * 2;
    const std::string_view piece = input.bytes(input.byte());
    if (place + piece.size() <= sizeof(FlightMemory)) piece.copy(bytes + place, piece.size());
  }
}

/// Words with a correct check: only their meaning can be rejected.
void seal(FlightMemory& memory) {
  for (FlightSlot& slot : memory.slots) {
    std::array<std::uint64_t, 6> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = slot.words[i];
    if (words[0] != 0) slot.check = quick_hash(std::span<const std::uint64_t>(words));
  }
}

void check(const FlightLog& log) {
  require(log.records.size() + log.damaged <= kFlightRecords, "no more records than slots");
  require(log.folder.size() <= kFlightFolderBytes, "a folder's name has an end");
  for (const FlightRecord& record : log.records)
    require(!observe::in_words(record).empty(), "an operation has a text");
  launch::JobResult job;
  job.world_size = 2;
  job.flights = {log, log};
  job.flights[1].rank = 1;
  job.outcomes = {{{0, 1}, 1}, {{1, 2}, 0, 9}};
  if (const auto found = observe::examine(job))
    require(!run::to_json(*found).dump().empty() && !found->verdict().empty(),
            "there is a verdict");
}

}  // namespace

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal;
  const auto memory = fuzz::sound_memory();
  fuzz::scribble(*memory, fuzz::Input(data, size));
  fuzz::check(comm::read_flight_log(*memory, 0));
  fuzz::seal(*memory);
  fuzz::check(comm::read_flight_log(*memory, 0));
  return 0;
}
