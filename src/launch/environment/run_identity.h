// The identity of a run: 128 random bits, drawn by the process that serves its rendezvous. A
// leftover process of an earlier run may know the port and the token of the next run; the identity
// tells it that this is another run. A run that a launcher restarts keeps its identity, and each of
// its starts has its own name: identity/restart.
#pragma once

#include "base/net/handshake.h"

#include <string>

namespace lockstep::internal::launch {

/// The key of the run's identity at the rendezvous.
inline constexpr const char* kRunKey = "run";

inline std::string make_run_identity() {
  constexpr std::size_t kDigits = 32;
  return make_token().substr(0, kDigits);
}

/// The name of one start of a run.
inline std::string name_start(const std::string& run, int restart) {
  return run + "/" + std::to_string(restart);
}

/// The run that a start belongs to; a run's identity is returned unchanged.
inline std::string run_of_start(const std::string& start) {
  return start.substr(0, start.find('/'));
}

}  // namespace lockstep::internal::launch
