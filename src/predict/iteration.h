// The time of a data-parallel iteration: the recorded parts of one worker, and the exchanges of a
// sync method between and beside them.
//
// Every worker has a batch of the recorded size, so W workers do W times the work.
#pragma once

#include "predict/method_plan.h"

#include <functional>

namespace lockstep::internal::predict {

/// The ranks, their network and their cores.
struct Cluster {
  comm::RecordedWorld world;
  NetworkModel network;
  /// Cores of all workers together, as on one host; 0 if each worker has cores for all its threads.
  int cores = 0;
  /// Slowdown of a worker's computing when all cores are busy, caused by common memory and caches.
  double crowding = 1;
  /// Fraction of communication that needs a core, if the network is not by_cores.
  double core_fraction = 0;
  /// Slowdown of the slowest rank compared with the recorded one; all ranks wait for it.
  double slowest = 1;
};

/// Times in seconds.
struct IterationForecast {
  double compute = 0;        ///< everything but communication
  double communication = 0;  ///< of all exchanges, also those during backward
  double exposed = 0;        ///< communication that prolongs the iteration
  double seconds() const { return compute + exposed; }
};

/// Seconds of a collective in a cluster: by closed forms, or by simulation.
using CollectiveSeconds = std::function<double(const Collective&, const Cluster&)>;
double closed_form_seconds(const Collective& collective, const Cluster& cluster);

IterationForecast forecast(const RecordedRun& run, const MethodPlan& plan, const Cluster& cluster,
                           const CollectiveSeconds& seconds_of = closed_form_seconds);

/// The slowdown of the slowest of so many ranks, if one takes `slow_rank` times as long, and each
/// one's time varies by a standard deviation of `jitter`, relative to its mean. Deterministic.
double slowest_of(int ranks, double slow_rank, double jitter);

}  // namespace lockstep::internal::predict
