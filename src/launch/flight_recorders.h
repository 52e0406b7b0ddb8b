// The flight recorders of a host's workers: memory that their launcher makes before it starts them,
// so that their last operations can be read however they end.
#pragma once

#include "comm/flight/flight_log.h"
#include "comm/shm/segment.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::launch {

/// Where there is no memory for them, the run goes on without.
class FlightRecorders {
 public:
  explicit FlightRecorders(int workers);

  /// What tells workers where theirs are: LOCKSTEP_RECORDERS. Nothing if there are none.
  std::map<std::string, std::string> variables() const;

  /// What they have to tell; of workers whose ranks begin with `first_rank`.
  std::vector<comm::FlightLog> read(int first_rank) const;

 private:
  const int workers_;
  const comm::NewSegment segment_;
};

/// The memory that this process's launcher keeps for it; null if it keeps none, or none that can be
/// used: a run does not fail for that.
std::shared_ptr<comm::FlightMemory> own_flight_memory();

}  // namespace lockstep::launch
