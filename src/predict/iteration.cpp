#include "predict/iteration.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace lockstep::predict {

namespace {

/// How much longer a worker computes here than it did alone.
double slowdown(const RecordedRun& run, const Site& site) {
  if (site.cores == 0) return site.slowest;
  const double wanted = static_cast<double>(site.world.size) * run.threads;
  const double turns = std::max(1.0, wanted / site.cores);
  const double crowded = site.world.size > 1 ? site.crowding : 1;
  return site.slowest * turns * crowded;
}

/// The share of communication that takes a core away from a worker that computes.
double stolen_share(const RecordedRun& run, const Site& site) {
  const bool spare = site.cores == 0 || site.world.size * run.threads < site.cores;
  if (spare) return 0;
  return site.network.by_cores() ? 1 : site.core_share;
}

class Timeline {
 public:
  Timeline(const RecordedRun& run, const Site& site)
      : slowdown_(slowdown(run, site)),
        backward_(slowdown_ * run.backward),
        stolen_share_(stolen_share(run, site)) {}

  /// Seconds after backward began; exchanges follow each other.
  void add(double ready, double seconds) {
    const double start = std::max(end_, slowdown_ * ready + stolen_);
    end_ = start + seconds;
    const double beside = std::clamp(backward_end() - start, 0.0, seconds);
    stolen_ += stolen_share_ * beside;
  }
  double backward_end() const { return backward_ + stolen_; }
  double end() const { return std::max(end_, backward_end()); }
  /// What the exchanges add to backward.
  double exposed() const { return end() - backward_; }

 private:
  const double slowdown_;
  const double backward_;
  const double stolen_share_;
  double stolen_ = 0;
  double end_ = 0;
};

}  // namespace

double closed_form_seconds(const Collective& collective, const Site& site) {
  // A step touches far more than caches hold before the same gradients are exchanged again.
  return cost_of(collective, site.world, site.network).cold().seconds(site.network, site.cores);
}

IterationForecast forecast(const RecordedRun& run, const MethodPlan& plan, const Site& site,
                           const CollectiveSeconds& seconds_of) {
  Timeline timeline(run, site);
  IterationForecast result;
  double after_update = 0;
  for (const Exchange& exchange : exchanges_of(plan, run, site.world)) {
    double seconds = exchange.work.cold().seconds(site.network, site.cores);
    if (exchange.collective) seconds += seconds_of(*exchange.collective, site);
    seconds *= exchange.share;
    result.communication += seconds;
    if (exchange.after_update)
      after_update += seconds;
    else
      timeline.add(exchange.ready, seconds);
  }
  const double update = run.optimizer * update_share(plan, site.world);
  result.compute =
      slowdown(run, site) * (run.data + run.forward + run.backward + update + run.other);
  result.exposed = timeline.exposed() + after_update;
  return result;
}

double slowest_of(int ranks, double slow_rank, double jitter) {
  if (ranks == 1) return 1;  // nobody waits for it, and it is what was recorded
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  double slowest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double own = std::max(0.0, 1 + jitter * normal(generator));
    slowest = std::max(slowest, rank == 0 ? slow_rank * own : own);
  }
  return slowest;
}

}  // namespace lockstep::predict
