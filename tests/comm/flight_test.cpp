// The flight recorder: the recorded data, and that its reader rejects invalid data.
#include "base/random.h"
#include "comm/flight/flight_log.h"
#include "comm/flight/flight_recorder.h"
#include "comm/flight/flight_words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

namespace lockstep::internal::comm {
namespace {

std::shared_ptr<FlightMemory> new_memory() {
  auto memory = std::shared_ptr<FlightMemory>(new FlightMemory);
  std::memset(static_cast<void*>(memory.get()), 0, sizeof(FlightMemory));
  return memory;
}

FlightRecord all_reduce(std::uint64_t sequence, double begin) {
  return {.operation = Operation::all_reduce,
          .algorithm = Algorithm::ring,
          .group = group_mark("world"),
          .sequence = sequence,
          .bytes = 4'000'000'000'000,
          .bucket = 3,
          .begin = begin};
}

TEST(Flight, RecordsAnOperation) {
  const auto memory = new_memory();
  FlightRecorder recorder(memory);
  recorder.set_step(17);
  recorder.set_folder("/a/folder");
  recorder.end(recorder.begin(all_reduce(34, 1.5)), 1.75);
  const FlightLog log = read_flight_log(*memory, 2);
  EXPECT_EQ(log.rank, 2);
  EXPECT_EQ(log.step, 17u);
  EXPECT_EQ(log.folder, "/a/folder");
  EXPECT_EQ(log.damaged, 0u);
  ASSERT_EQ(log.records.size(), 1u);
  const FlightRecord& record = log.records[0];
  EXPECT_EQ(record.name(), "all_reduce");
  EXPECT_EQ(record.algorithm, Algorithm::ring);
  EXPECT_EQ(record.group, group_mark("world"));
  EXPECT_EQ(record.sequence, 34u);
  EXPECT_EQ(record.bytes, 4'000'000'000'000u);
  EXPECT_EQ(record.step, 17u);
  EXPECT_EQ(record.bucket, 3);
  EXPECT_EQ(record.number, 1u);
  EXPECT_EQ(record.begin, 1.5);
  EXPECT_EQ(record.end, 1.75);
  EXPECT_FALSE(record.failed);
}

TEST(Flight, RecordsMessagesAndTheirEnds) {
  const auto memory = new_memory();
  FlightRecorder recorder(memory);
  recorder.begin({.incoming = true, .peer = 65535, .bytes = 12, .begin = 1});
  using Why = FlightFailure::Why;
  recorder.fail(recorder.begin({.peer = 0, .bytes = 0, .begin = 2}), 3, {Why::lost, 65535});
  recorder.fail(recorder.begin({.peer = 0, .bytes = 0, .begin = 1e6}), 1e6, {Why::late, 0});
  const FlightLog log = read_flight_log(*memory, 0);
  ASSERT_EQ(log.records.size(), 3u);
  EXPECT_EQ(log.records[0].name(), "recv");
  EXPECT_EQ(log.records[0].peer, 65535);
  EXPECT_TRUE(log.records[0].under_way());
  EXPECT_FALSE(log.records[0].failed);
  EXPECT_EQ(log.records[1].name(), "send");
  EXPECT_EQ(log.records[1].bucket, -1);
  EXPECT_NEAR(log.records[1].end, 3, 1e-6);
  EXPECT_TRUE(log.records[1].failed);
  EXPECT_EQ(log.records[1].failure, (FlightFailure{Why::lost, 65535}));
  // The reason takes the last bits of the end time, but never makes it earlier than the beginning.
  EXPECT_NEAR(log.records[2].end, 1e6, 1e-3);
  EXPECT_EQ(log.records[2].failure, (FlightFailure{Why::late, 0}));
}

TEST(Flight, OperationWithoutAnEndHasFailed) {
  const auto memory = new_memory();
  FlightRecorder recorder(memory);
  { const FlightEntry entry(&recorder, all_reduce(1, 1)); }
  {
    FlightEntry entry(&recorder, all_reduce(2, 1));
    entry.ended(2);
  }
  { const FlightEntry nowhere(nullptr, all_reduce(3, 1)); }
  const FlightLog log = read_flight_log(*memory, 0);
  ASSERT_EQ(log.records.size(), 2u);
  EXPECT_TRUE(log.records[0].failed);
  EXPECT_FALSE(log.records[1].failed);
}

TEST(Flight, KeepsTheNewest) {
  const auto memory = new_memory();
  FlightRecorder recorder(memory);
  constexpr std::uint64_t kAll = 3 * kFlightRecords + 100;
  std::uint64_t first = 0;
  for (std::uint64_t i = 1; i <= kAll; ++i) {
    const std::uint64_t number = recorder.begin(all_reduce(i, static_cast<double>(i)));
    if (i == 1) first = number;
    if (i > 1) recorder.end(number, static_cast<double>(i) + 0.5);
  }
  recorder.fail(first, 1e6, {});  // its slot has been reused
  const FlightLog log = read_flight_log(*memory, 0);
  ASSERT_EQ(log.records.size(), kFlightRecords);
  EXPECT_EQ(log.damaged, 0u);
  for (std::size_t i = 0; i < log.records.size(); ++i) {
    const std::uint64_t number = kAll - kFlightRecords + 1 + i;
    EXPECT_EQ(log.records[i].number, number);
    EXPECT_EQ(log.records[i].sequence, number);
    EXPECT_EQ(log.records[i].end, static_cast<double>(number) + 0.5);
  }
}

/// The rank is killed after this many of the stores that refill a slot.
void tear(FlightSlot& slot, const FlightRecord& newer, int stores) {
  if (stores-- > 0) slot.check = 0;
  if (stores-- > 0) slot.end = 0;
  const FlightWords words = words_of(newer);
  for (std::size_t i = 0; i < words.size() && stores-- > 0; ++i) slot.words[i] = words[i];
}

TEST(Flight, TornSlotIsRejected) {
  for (int stores = 1; stores <= 8; ++stores) {
    const auto memory = new_memory();
    FlightRecorder recorder(memory);
    for (std::uint64_t i = 1; i <= kFlightRecords + 5; ++i)
      recorder.end(recorder.begin(all_reduce(i, 1)), 2);
    FlightRecord newer = all_reduce(kFlightRecords + 6, 3);
    newer.number = kFlightRecords + 6;
    tear(memory->slots[5], newer, stores);
    const FlightLog log = read_flight_log(*memory, 0);
    EXPECT_EQ(log.damaged, 1u) << stores;
    EXPECT_EQ(log.records.size(), kFlightRecords - 1) << stores;
    for (const FlightRecord& record : log.records) {
      EXPECT_FALSE(record.under_way()) << stores;
      EXPECT_EQ(record.number, record.sequence) << stores;
    }
  }
}

TEST(Flight, TornStepIsTakenFromTheLastOperation) {
  const auto memory = new_memory();
  FlightRecorder recorder(memory);
  recorder.set_step(4);
  recorder.begin(all_reduce(1, 1));
  memory->step[0] = 5;  // without its complement
  EXPECT_EQ(read_flight_log(*memory, 0).step, 4u);
}

TEST(Flight, RandomBytesAreRejected) {
  const auto memory = new_memory();
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    auto* words = reinterpret_cast<std::uint64_t*>(memory.get());
    for (std::size_t i = 0; i < sizeof(FlightMemory) / 8; ++i) words[i] = random.next();
    const FlightLog log = read_flight_log(*memory, 0);
    EXPECT_TRUE(log.records.empty());
    EXPECT_EQ(log.damaged, kFlightRecords);
    EXPECT_TRUE(log.folder.empty());
  }
}

TEST(Flight, CorruptedRecordsAreSkipped) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const auto memory = new_memory();
    FlightRecorder recorder(memory);
    for (std::uint64_t i = 1; i <= kFlightRecords; ++i)
      recorder.end(recorder.begin(all_reduce(i, 1)), 2);
    const std::size_t slot = random.next() % kFlightRecords, bit = random.next() % (7 * 64);
    auto* words = reinterpret_cast<std::uint64_t*>(&memory->slots[slot]);
    words[bit / 64] ^= std::uint64_t{1} << bit % 64;  // any bit except those of `end`
    const FlightLog log = read_flight_log(*memory, 0);
    EXPECT_EQ(log.damaged, 1u);
    ASSERT_EQ(log.records.size(), kFlightRecords - 1);
    for (const FlightRecord& record : log.records) EXPECT_EQ(record.number, record.sequence);
  }
}

TEST(Flight, WordsWithACorrectCheckAreStillValidated) {
  const FlightWords good = words_of([] {
    FlightRecord record = all_reduce(1, 2);
    record.number = 1;
    return record;
  }());
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  EXPECT_TRUE(record_of(good, 0));
  EXPECT_TRUE(record_of(good, bits(2)));
  EXPECT_FALSE(record_of(good, bits(1))) << "it ends before it begins";
  EXPECT_FALSE(record_of(good, bits(std::nan("")))) << "it ends at no moment";
  EXPECT_FALSE(record_of(good, bits(INFINITY)));
  EXPECT_FALSE(record_of(good, bits(-3) | 3)) << "it failed for no reason there is";
  const auto with = [&](std::size_t index, std::uint64_t word) {
    FlightWords words = good;
    words[index] = word;
    return words;
  };
  EXPECT_FALSE(record_of(with(0, 0), 0)) << "no number";
  EXPECT_FALSE(record_of(with(1, 200), 0)) << "no such operation";
  EXPECT_FALSE(record_of(with(1, 200 << 8 | 1), 0)) << "no such algorithm";
  EXPECT_FALSE(record_of(with(1, 2 << 16 | 1), 0)) << "no such direction";
  FlightWords message = with(1, 0);
  message[2] = 1 << 16;
  EXPECT_FALSE(record_of(message, 0)) << "no such rank";
  EXPECT_FALSE(record_of(with(5, bits(-1)), 0)) << "it begins before time";
}

TEST(Flight, ThreadsWriteDuringARead) {
  const auto memory = new_memory();
  FlightRecorder recorder(memory);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 1; i <= 3000; ++i) {
        recorder.set_step(i);
        const auto begin = static_cast<double>(i);
        recorder.end(recorder.begin({.peer = thread, .bytes = i, .begin = begin}), begin + 0.5);
      }
    });
  for (int i = 0; i < 20; ++i)
    for (const FlightRecord& record : read_flight_log(*memory, 0).records)
      EXPECT_EQ(record.begin, static_cast<double>(record.bytes));
  threads.clear();
  const FlightLog log = read_flight_log(*memory, 0);
  // A thread that was suspended for a whole round of slots may have ended another operation.
  EXPECT_EQ(log.records.size() + log.damaged, kFlightRecords);
}

TEST(Flight, TooLongFolderIsIgnored) {
  const auto memory = new_memory();
  FlightRecorder recorder(memory);
  recorder.set_folder(std::string(kFlightFolderBytes + 1, 'a'));
  EXPECT_EQ(read_flight_log(*memory, 0).folder, "");
  recorder.set_folder(std::string(kFlightFolderBytes, 'a'));
  EXPECT_EQ(read_flight_log(*memory, 0).folder, std::string(kFlightFolderBytes, 'a'));
}

}  // namespace
}  // namespace lockstep::internal::comm
