// Situation: all that is known of a run when it is judged. What it was asked for, the machine it
// had, and what its ranks measured.
#pragma once

#include "observe/times.h"

#include <string>
#include <vector>

namespace lockstep::observe {

/// Means over a rank's iterations.
struct RankMeasures {
  Times times;
  double operations = 0;  ///< collectives and messages
  double latency = 0;     ///< seconds of each, with next to nothing to move
  double bytes = 0;       ///< moved

  /// Seconds of its own work: all but what it spent on equal gradients.
  double own() const { return times.data + times.forward + times.backward + times.optimizer; }
};

struct Situation {
  std::vector<RankMeasures> ranks;
  /// Seconds of an iteration that a rank's own work ended before the slowest rank's, the mean over
  /// iterations and ranks. Also where another rank is the slowest every time.
  double waiting = 0;

  std::string sync = "ddp";
  std::string transport = "shm";
  std::size_t buckets = 1;    ///< that the gradients are cut into, if the method cuts them
  double gradient_bytes = 0;  ///< of one rank

  int threads = 1;  ///< a worker
  int cores = 1;    ///< of all hosts
  bool one_host = true;
  int loader_threads = 0;  ///< a worker; 0 if the training thread loads its images itself

  int workers() const { return static_cast<int>(ranks.size()); }
  bool oversubscribed() const { return workers() * threads > cores; }
};

/// Where the seconds of an iteration go, the mean over ranks: these add up to about `total`.
struct Breakdown {
  double total = 0;
  double data = 0;
  double compute = 0;  ///< forward, backward and update
  double waiting = 0;  ///< for ranks that come later
  double moving = 0;   ///< gradients, as far as backward does not hide it
};

Breakdown break_down(const Situation& situation);

/// Seconds of an iteration that all its operations together take before anything has moved. It is
/// measured apart from them, but no more than they took.
double latency_of(const Situation& situation);

}  // namespace lockstep::observe
