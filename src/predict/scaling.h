// A scaling curve: predicted iterations of a recorded run with every sync method on growing numbers
// of workers, and the conclusions from them.
#pragma once

#include "predict/iteration.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::predict {

/// The job to predict.
struct ScalingJob {
  RecordedRun run;
  NetworkModel network;
  std::vector<int> workers{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<std::string> methods{};      ///< names for parse_method_plan
  std::vector<double> bucket_megabytes{};  ///< MiB; the best is chosen at every size
  int per_host = 1;                        ///< ranks on a host, which use its link together
  int cores = 0;                           ///< see Cluster
  double crowding = 1;                     ///< see Cluster
  double core_fraction = 0;                ///< see Cluster
  double slow_rank = 1;                    ///< factor of rank 0's computing time
  double jitter = 0;                       ///< see slowest_of
  /// More workers are worth it while each new one adds at least this fraction of a worker.
  double worth = 0.5;
};

struct Prediction {
  MethodPlan plan;
  int workers = 1;
  std::string network;
  IterationForecast forecast;
  double alone = 0;  ///< seconds of an iteration with one worker
  bool simulated = false;

  double seconds() const { return forecast.seconds(); }
  double efficiency() const { return alone / seconds(); }
  double speedup() const { return workers * efficiency(); }
};

struct Scaling {
  ScalingJob job;
  std::vector<Prediction> predictions;  ///< by method, then workers; simulated ones are last
};

/// A world of so many workers with this many ranks per host. Throws UsageError unless they fill
/// their hosts.
comm::RecordedWorld world_of(int workers, int per_host);

/// Throws UsageError for empty lists and values out of range.
void require_valid(const ScalingJob& job);

/// The cluster of so many of the job's workers.
Cluster cluster_of(const ScalingJob& job, int workers);

/// One method on one number of workers, with the best of the job's bucket sizes, by closed forms.
Prediction predict(const ScalingJob& job, const std::string& method, int workers);

/// All methods and numbers of workers, by closed forms.
Scaling predict_scaling(const ScalingJob& job);

/// The fastest method at each number of workers, by closed forms. Inexact methods (local-sgd,
/// compression) are considered only if there are no others.
std::vector<Prediction> best_by_workers(const Scaling& scaling);

/// A method that is slower than another up to `below` workers, and faster from `from` on.
struct Crossing {
  std::string method;
  std::string than;
  int below = 0;
  int from = 0;
};
std::vector<Crossing> crossings(const Scaling& scaling);

/// The largest number of workers up to which each new one adds at least ScalingJob::worth to the
/// best method's speed-up.
int workers_worth_it(const Scaling& scaling);

/// A few sentences: the best method, how far it scales, what limits it.
std::string verdict_of(const Scaling& scaling);

/// `{"predictions": […]}` and the summary. See docs/files.md.
nlohmann::json to_json(const Scaling& scaling);

}  // namespace lockstep::internal::predict
