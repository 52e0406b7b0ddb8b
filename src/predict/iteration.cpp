#include "predict/iteration.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace lockstep::internal::predict {

namespace {

/// The slowdown of a worker's computing compared with the recorded one.
double slowdown(const RecordedRun& run, const Cluster& cluster) {
  if (cluster.cores == 0) return cluster.slowest;
  const double wanted = static_cast<double>(cluster.world.size) * run.threads;
  const double turns = std::max(1.0, wanted / cluster.cores);
  const double crowded = cluster.world.size > 1 ? cluster.crowding : 1;
  return cluster.slowest * turns * crowded;
}

/// The fraction of communication that takes a core from a computing worker.
double stolen_fraction(const RecordedRun& run, const Cluster& cluster) {
  const bool spare = cluster.cores == 0 || cluster.world.size * run.threads < cluster.cores;
  if (spare) return 0;
  return cluster.network.by_cores() ? 1 : cluster.core_fraction;
}

class Timeline {
 public:
  Timeline(const RecordedRun& run, const Cluster& cluster)
      : slowdown_(slowdown(run, cluster)),
        backward_(slowdown_ * run.backward),
        stolen_fraction_(stolen_fraction(run, cluster)) {}

  /// Adds an exchange that is ready at this time after backward began. Exchanges run one by one.
  void add(double ready, double seconds) {
    const double start = std::max(end_, slowdown_ * ready + stolen_);
    end_ = start + seconds;
    const double beside = std::clamp(backward_end() - start, 0.0, seconds);
    stolen_ += stolen_fraction_ * beside;
  }
  double backward_end() const { return backward_ + stolen_; }
  double end() const { return std::max(end_, backward_end()); }
  /// The time that exchanges add to backward.
  double exposed() const { return end() - backward_; }

 private:
  const double slowdown_;
  const double backward_;
  const double stolen_fraction_;
  double stolen_ = 0;
  double end_ = 0;
};

}  // namespace

double closed_form_seconds(const Collective& collective, const Cluster& cluster) {
  // A step accesses more memory than the caches hold before the same gradients are exchanged again.
  return cost_of(collective, cluster.world, cluster.network)
      .cold()
      .seconds(cluster.network, cluster.cores);
}

IterationForecast forecast(const RecordedRun& run, const MethodPlan& plan, const Cluster& cluster,
                           const CollectiveSeconds& seconds_of) {
  Timeline timeline(run, cluster);
  IterationForecast result;
  double after_update = 0;
  for (const Exchange& exchange : exchanges_of(plan, run, cluster.world)) {
    double seconds = exchange.work.cold().seconds(cluster.network, cluster.cores);
    if (exchange.collective) seconds += seconds_of(*exchange.collective, cluster);
    seconds *= exchange.frequency;
    result.communication += seconds;
    if (exchange.after_update)
      after_update += seconds;
    else
      timeline.add(exchange.ready, seconds);
  }
  const double update = run.optimizer * update_fraction(plan, cluster.world);
  result.compute =
      slowdown(run, cluster) * (run.data + run.forward + run.backward + update + run.other);
  result.exposed = timeline.exposed() + after_update;
  return result;
}

double slowest_of(int ranks, double slow_rank, double jitter) {
  if (ranks == 1) return 1;  // a single rank is the recorded one
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  double slowest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double own = std::max(0.0, 1 + jitter * normal(generator));
    slowest = std::max(slowest, rank == 0 ? slow_rank * own : own);
  }
  return slowest;
}

}  // namespace lockstep::internal::predict
