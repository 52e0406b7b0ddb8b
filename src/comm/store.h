// Store: key-value pairs that ranks exchange before they are connected, and the exit status of
// ranks as seen by their launcher.
#pragma once

#include "base/deadline.h"

#include <optional>
#include <string>

namespace lockstep::internal::comm {

/// Thread safety: any thread.
class Store {
 public:
  virtual ~Store() = default;

  /// Sets a key once; all ranks can then get it. Throws UsageError if another process has set it.
  virtual void set(const std::string& key, const std::string& value) = 0;

  /// Waits until the key is set. `owner` is the rank of the run that will set it, or -1 if unknown:
  /// if its process ends first, throws PeerLostError with its exit status. Throws TimeoutError at
  /// the limit's deadline, and the exceptions of its tick.
  virtual std::string get(const std::string& key, const WaitLimit& limit, int owner = -1) = 0;

  /// How the process of a rank of the run ended ("was ended by signal 9 (Killed)"), if its launcher
  /// learns it within `timeout`. Never throws: an unanswered request gives an empty result.
  virtual std::optional<std::string> ending_of(int rank, std::chrono::milliseconds timeout) = 0;
};

}  // namespace lockstep::internal::comm
