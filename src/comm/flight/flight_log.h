// FlightLog: the content of a rank's flight recorder, read after the rank has ended.
#pragma once

#include "comm/flight/flight_memory.h"
#include "comm/flight/flight_record.h"

#include <string>
#include <vector>

namespace lockstep::internal::comm {

struct FlightLog {
  int rank = 0;
  std::vector<FlightRecord> records{};  ///< ordered by number
  std::uint64_t step = 0;               ///< last training step; 0 if the program never set one
  std::size_t damaged = 0;  ///< slots that failed their check: half-written or corrupted
  std::string folder{};     ///< see FlightRecorder::set_folder; not validated
};

/// Reads a recorder's memory, which may contain anything: invalid slots are counted and skipped.
FlightLog read_flight_log(const FlightMemory& memory, int rank);

}  // namespace lockstep::internal::comm
