// A scaling curve: iterations of a recorded run with every sync method on more and more workers,
// and what follows from them.
#pragma once

#include "predict/iteration.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::predict {

/// What was asked for.
struct ScalingJob {
  RecordedRun run;
  Network network;
  std::vector<int> workers{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<std::string> methods{};      ///< as parse_method_plan takes them
  std::vector<double> bucket_megabytes{};  ///< MiB; the best is taken at every size
  int per_host = 1;                        ///< ranks of a host, which share its link
  int cores = 0;                           ///< see Site
  double crowding = 1;
  double core_share = 0;
  double slow_rank = 1;  ///< rank 0 computes so many times as long
  double jitter = 0;     ///< see slowest_of
  /// More workers are worth it while each new one adds at least this share of one.
  double worth = 0.5;
};

struct Prediction {
  MethodPlan plan;
  int workers = 1;
  std::string network;
  IterationForecast forecast;
  double alone = 0;  ///< seconds of an iteration of one worker
  bool simulated = false;

  double seconds() const { return forecast.seconds(); }
  double efficiency() const { return alone / seconds(); }
  double speedup() const { return workers * efficiency(); }
};

struct Scaling {
  ScalingJob job;
  std::vector<Prediction> predictions;  ///< by method, then workers; simulated ones come last
};

/// The world of so many workers with this many ranks a host. Throws UsageError where they do not
/// fill their hosts.
comm::RecordedWorld world_of(int workers, int per_host);

/// Throws UsageError for lists that are empty, or values that make no sense.
void require_sense(const ScalingJob& job);

/// Where so many of the job's workers run.
Site site_of(const ScalingJob& job, int workers);

/// One method on one number of workers, with the best of the job's bucket sizes, by closed forms.
Prediction predict(const ScalingJob& job, const std::string& method, int workers);

/// All methods and numbers of workers, by closed forms.
Scaling predict_scaling(const ScalingJob& job);

/// The fastest method at each number of workers, by closed forms. Those that make other updates
/// than one worker would (local-sgd, compression) count only where there are no others.
std::vector<Prediction> best_by_workers(const Scaling& scaling);

/// A method that is slower than another up to `below` workers, and faster from `from` on.
struct Crossing {
  std::string method;
  std::string than;
  int below = 0;
  int from = 0;
};
std::vector<Crossing> crossings(const Scaling& scaling);

/// The largest number of workers up to which every further one adds the job's share of one to the
/// best method's speed-up.
int workers_worth_it(const Scaling& scaling);

/// In plain words: the best method, how far it scales, what limits it.
std::string verdict_of(const Scaling& scaling);

/// `{"predictions": […]}`, and what it is based on. See docs/files.md.
nlohmann::json to_json(const Scaling& scaling);

}  // namespace lockstep::predict
