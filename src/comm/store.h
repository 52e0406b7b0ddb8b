// Store: a few key-value pairs that ranks exchange before they can talk to each other.
#pragma once

#include "base/deadline.h"

#include <string>

namespace lockstep::comm {

class Store {
 public:
  virtual ~Store() = default;

  /// Sets a key once; all ranks can then get it.
  virtual void set(const std::string& key, const std::string& value) = 0;

  /// Waits until the key is set. Throws TimeoutError at the deadline.
  virtual std::string get(const std::string& key, const Deadline& deadline) = 0;
};

}  // namespace lockstep::comm
