// Situation: the input of the verdict. It holds the options of a run, the machine it ran on and the
// measurements of its ranks.
#pragma once

#include "observe/times.h"

#include <string>
#include <vector>

namespace lockstep::internal::observe {

/// Measurements of one rank, averaged over its iterations.
struct RankMeasures {
  Times times;
  double operations = 0;  ///< collectives and messages per iteration
  double latency = 0;     ///< seconds of one operation on a nearly empty array
  double bytes = 0;       ///< bytes moved per iteration

  /// Seconds of the rank's own work: everything except synchronising gradients.
  double own() const { return times.data + times.forward + times.backward + times.optimizer; }
};

struct Situation {
  std::vector<RankMeasures> ranks;
  std::string sync = "ddp";
  std::string transport = "shm";
  std::size_t buckets = 1;    ///< gradient buckets; 1 if the method uses none
  double gradient_bytes = 0;  ///< bytes of all gradients of one rank

  int threads = 1;  ///< per worker
  int cores = 1;    ///< on all hosts together
  bool one_host = true;
  int loader_threads = 0;  ///< per worker; 0 if the training thread loads the images

  int workers() const { return static_cast<int>(ranks.size()); }
  bool oversubscribed() const { return workers() * threads > cores; }
};

/// Seconds of an iteration by purpose, averaged over ranks. The parts add up to about `total`.
struct Breakdown {
  double total = 0;
  double data = 0;     ///< waiting for images
  double compute = 0;  ///< forward, backward and optimizer
  double waiting = 0;  ///< waiting for slower ranks
  double moving = 0;   ///< moving gradients while backward does not run
};

Breakdown break_down(const Situation& situation);

/// Seconds of latency per iteration: the number of operations times the latency of one, which is
/// measured separately. Limited to the time that the operations took.
double latency_of(const Situation& situation);

}  // namespace lockstep::internal::observe
