// FlightRecorder: the last operations of a rank, in memory that outlives the rank. The launcher
// allocates that memory before it starts the rank and reads it after a failure (flight_log.h),
// however the rank ended.
//
// The memory is a ring of slots: an operation takes the next slot when it begins and records its
// end there.
//
// Thread safety: any thread, without locks. An operation costs about twenty nanoseconds.
#pragma once

#include "comm/flight/flight_memory.h"
#include "comm/flight/flight_record.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace lockstep::internal::comm {

class FlightRecorder {
 public:
  /// REQUIRES: the memory holds a FlightMemory, initially zeroed.
  explicit FlightRecorder(std::shared_ptr<FlightMemory> memory) : memory_(std::move(memory)) {}

  /// Records that an operation has begun; fills in its number and step. Returns the number.
  std::uint64_t begin(const FlightRecord& operation);
  // Record that an operation succeeded or failed. Ignored if the slot has been reused since.
  void end(std::uint64_t number, double when);
  void fail(std::uint64_t number, double when, const FlightFailure& failure);

  /// Sets the training step of the operations that follow.
  void set_step(std::uint64_t step);

  /// Sets the run's folder, in which the launcher writes its post-mortem. A path that is too long
  /// is ignored.
  void set_folder(std::string_view folder);

  FlightMemory* memory() const { return memory_.get(); }

 private:
  void set_end(std::uint64_t number, std::uint64_t word);

  const std::shared_ptr<FlightMemory> memory_;
};

/// This process's recorder; null if the launcher keeps none. It lives as long as the process.
FlightRecorder* flight_recorder();
/// Sets this process's recorder. Null for none.
void use_flight_recorder(std::shared_ptr<FlightMemory> memory);

// Forward to this process's recorder, if there is one.
void note_step(std::uint64_t step);
void note_folder(const std::filesystem::path& folder);

/// Records an operation for the duration of a scope; does nothing if the recorder is null. The
/// operation counts as failed unless its end is reported before the destructor runs.
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

}  // namespace lockstep::internal::comm
