// FlightLog: what a rank's flight recorder has to tell, once the rank has ended.
#pragma once

#include "comm/flight/flight_memory.h"
#include "comm/flight/flight_record.h"

#include <string>
#include <vector>

namespace lockstep::comm {

struct FlightLog {
  int rank = 0;
  std::vector<FlightRecord> records{};  ///< in the order of their numbers
  std::uint64_t step = 0;               ///< in which it was last; 0 if nobody said so
  std::size_t damaged = 0;  ///< slots that do not make sense: one that was being filled, or worse
  std::string folder{};     ///< see FlightRecorder::set_folder; anything may be in it
};

/// Reads a recorder's memory, whatever is in it: what makes no sense is counted and left out.
FlightLog read_flight_log(const FlightMemory& memory, int rank);

}  // namespace lockstep::comm
