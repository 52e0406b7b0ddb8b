// The flight recorders of a host's workers: memory that the launcher makes before it starts them,
// so that their last operations can be read however they end.
#pragma once

#include "comm/flight/flight_log.h"
#include "comm/shm/segment.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// If there is not enough memory, the run continues without recorders.
class FlightRecorders {
 public:
  explicit FlightRecorders(int workers);

  /// The variable that tells workers the location: LOCKSTEP_RECORDERS. Empty if there are no
  /// recorders.
  std::map<std::string, std::string> variables() const;

  /// The recorded operations of the workers, whose ranks begin with `first_rank`.
  std::vector<comm::FlightLog> read(int first_rank) const;

 private:
  const int workers_;
  const comm::NewSegment segment_;
};

/// The recorder memory that the launcher keeps for this process; null if there is none or it cannot
/// be used, which is not an error.
std::shared_ptr<comm::FlightMemory> own_flight_memory();

}  // namespace lockstep::internal::launch
