// Store: a few key-value pairs that ranks exchange before they can talk to each other, and what
// became of ranks whose launcher saw them end.
#pragma once

#include "base/deadline.h"

#include <optional>
#include <string>

namespace lockstep::comm {

/// Any thread may call it.
class Store {
 public:
  virtual ~Store() = default;

  /// Sets a key once; all ranks can then get it. Throws UsageError if someone else has set it.
  virtual void set(const std::string& key, const std::string& value) = 0;

  /// Waits until the key is set. `owner` is the rank of the run that will set it: if its process
  /// ends first, throws PeerLostError that says how. -1 for nobody in particular. Throws
  /// TimeoutError at the limit's deadline, and what its tick throws.
  virtual std::string get(const std::string& key, const WaitLimit& limit, int owner = -1) = 0;

  /// How the process of a rank of the run ended ("was ended by signal 9 (Killed)"), if its launcher
  /// has seen it within `patience`. Never throws: without an answer there is nothing.
  virtual std::optional<std::string> ending_of(int rank, std::chrono::milliseconds patience) = 0;
};

}  // namespace lockstep::comm
