// FlightRecorder: a rank's last operations, in memory that outlives it. Its launcher makes that
// memory before it starts the rank and reads it after a failure (flight_log.h), however the rank
// ended.
//
// A ring of slots: an operation takes the next one when it begins, and notes there when it has
// ended. Any thread, without locks: an operation costs some twenty nanoseconds.
#pragma once

#include "comm/flight/flight_memory.h"
#include "comm/flight/flight_record.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace lockstep::comm {

class FlightRecorder {
 public:
  /// REQUIRES: the memory is that of a FlightMemory, zeroed at first.
  explicit FlightRecorder(std::shared_ptr<FlightMemory> memory) : memory_(std::move(memory)) {}

  /// An operation has begun: all but its number, step and end. Returns its number.
  std::uint64_t begin(const FlightRecord& operation);
  // It has ended well, or failed. An operation so long ago that its slot has another one is passed
  // over.
  void end(std::uint64_t number, double when);
  void fail(std::uint64_t number, double when, const FlightFailure& failure);

  /// From now on operations belong to this step of the training.
  void set_step(std::uint64_t step);

  /// Where the run keeps its files, so that the launcher can leave its verdict there. One that is
  /// too long is passed over.
  void set_folder(std::string_view folder);

  FlightMemory* memory() const { return memory_.get(); }

 private:
  void set_end(std::uint64_t number, std::uint64_t word);

  const std::shared_ptr<FlightMemory> memory_;
};

/// This process's; null where its launcher keeps none. It lives as long as the process.
FlightRecorder* flight_recorder();
/// From now on this is the process's. Null for none.
void use_flight_recorder(std::shared_ptr<FlightMemory> memory);

// Each tells this process's recorder, if there is one: that this step of the training begins; where
// the run keeps its files.
void note_step(std::uint64_t step);
void note_folder(const std::filesystem::path& folder);

/// An operation under way, in a recorder or, where that is null, nowhere. Unless told that it has
/// ended, it has failed.
class FlightEntry {
 public:
  FlightEntry(FlightRecorder* recorder, const FlightRecord& operation)
      : recorder_(recorder), number_(recorder ? recorder->begin(operation) : 0) {}
  ~FlightEntry();
  FlightEntry(const FlightEntry&) = delete;
  FlightEntry& operator=(const FlightEntry&) = delete;

  void ended(double when) {
    if (recorder_) recorder_->end(number_, when);
    recorder_ = nullptr;
  }
  void failed(const FlightFailure& failure);

 private:
  FlightRecorder* recorder_;
  const std::uint64_t number_;
};

}  // namespace lockstep::comm
