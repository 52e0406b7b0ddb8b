#include "comm/flight/flight_recorder.h"

#include "base/deadline.h"
#include "base/hash/quick_hash.h"
#include "comm/flight/flight_words.h"

namespace lockstep::internal::comm {

namespace {

std::atomic<FlightRecorder*> the_recorder{nullptr};

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kRelease = std::memory_order_release;

}  // namespace

std::uint64_t FlightRecorder::begin(const FlightRecord& operation) {
  FlightRecord record = operation;
  record.number = 1 + memory_->taken.fetch_add(1, kRelaxed);
  record.step = memory_->step[0].load(kRelaxed);
  const FlightWords words = words_of(record);
  FlightSlot& slot = memory_->slots[(record.number - 1) % kFlightRecords];
  // In this order, so that a slot is invalid at every moment until it is complete.
  slot.check.store(0, kRelaxed);
  slot.end.store(0, kRelease);
  for (std::size_t i = 0; i < words.size(); ++i) slot.words[i].store(words[i], kRelease);
  slot.check.store(quick_hash(std::span<const std::uint64_t>(words)), kRelease);
  return record.number;
}

void FlightRecorder::end(std::uint64_t number, double when) {
  set_end(number, end_word(when));
}

void FlightRecorder::fail(std::uint64_t number, double when, const FlightFailure& failure) {
  set_end(number, end_word(when, failure));
}

void FlightRecorder::set_end(std::uint64_t number, std::uint64_t word) {
  FlightSlot& slot = memory_->slots[(number - 1) % kFlightRecords];
  if (slot.words[0].load(kRelaxed) != number) return;
  slot.end.store(word, kRelease);
}

void FlightRecorder::set_step(std::uint64_t step) {
  memory_->step[0].store(step, kRelaxed);
  memory_->step[1].store(~step, kRelease);
}

void FlightRecorder::set_folder(std::string_view folder) {
  if (folder.empty() || folder.size() > kFlightFolderBytes) return;
  std::array<std::uint64_t, kFlightFolderBytes / 8> words{};
  folder.copy(reinterpret_cast<char*>(words.data()), folder.size());
  memory_->folder_check.store(0, kRelaxed);
  for (std::size_t i = 0; i < words.size(); ++i) memory_->folder[i].store(words[i], kRelease);
  memory_->folder_check.store(quick_hash(std::span<const std::uint64_t>(words)), kRelease);
}

FlightRecorder* flight_recorder() {
  return the_recorder.load(std::memory_order_acquire);
}

void use_flight_recorder(std::shared_ptr<FlightMemory> memory) {
  // The previous recorder is not freed: a thread may be writing to it.
  the_recorder.store(memory ? new FlightRecorder(std::move(memory)) : nullptr);
}

void note_step(std::uint64_t step) {
  if (FlightRecorder* recorder = flight_recorder()) recorder->set_step(step);
}

void note_folder(const std::filesystem::path& folder) {
  if (FlightRecorder* recorder = flight_recorder())
    recorder->set_folder(std::filesystem::absolute(folder).string());
}

FlightEntry::~FlightEntry() {
  failed({});
}

void FlightEntry::failed(const FlightFailure& failure) {
  if (recorder_) recorder_->fail(number_, now_seconds(), failure);
  recorder_ = nullptr;
}

}  // namespace lockstep::internal::comm
