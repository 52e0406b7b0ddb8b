// How long an iteration takes where several workers keep their gradients equal: a recorded worker's
// parts, and what a sync method exchanges between and beside them.
//
// Every worker has a batch as large as the recorded one's, so that W of them do W times the work.
#pragma once

#include "predict/method_plan.h"

#include <functional>

namespace lockstep::predict {

/// Where the workers run.
struct Site {
  comm::RecordedWorld world;
  Network network;
  /// That all workers share, as on one host; 0: each has its own for every thread.
  int cores = 0;
  /// How much longer a worker computes when all cores are busy than when only its own are: they
  /// share memory and caches.
  double crowding = 1;
  /// The share of communication that needs a core, where the network is not by_cores.
  double core_share = 0;
  /// How much longer the slowest rank computes than the recorded one; all wait for it.
  double slowest = 1;
};

/// Seconds.
struct IterationForecast {
  double compute = 0;        ///< all but communication
  double communication = 0;  ///< of all exchanges, also while backward goes on
  double exposed = 0;        ///< what they add to the iteration
  double seconds() const { return compute + exposed; }
};

/// Seconds of a collective among the ranks of a site: closed forms, or a simulation.
using CollectiveSeconds = std::function<double(const Collective&, const Site&)>;
double closed_form_seconds(const Collective& collective, const Site& site);

IterationForecast forecast(const RecordedRun& run, const MethodPlan& plan, const Site& site,
                           const CollectiveSeconds& seconds_of = closed_form_seconds);

/// How much longer the slowest of so many ranks computes than a usual one, if one is `slow_rank`
/// times as slow, and each one's time varies by the share `jitter` (one standard deviation). The
/// same for the same numbers.
double slowest_of(int ranks, double slow_rank, double jitter);

}  // namespace lockstep::predict
