#include "predict/scaling.h"

#include <lockstep/error.h>

#include "base/table/quantities.h"
#include "run/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lockstep::internal::predict {

namespace {

constexpr int kMostWorkers = 1 << 20;

void require_list(bool empty, const char* option) {
  if (empty) throw UsageError(fmt::format("{} is empty: name at least one", option));
}

/// REQUIRES: require_valid() accepts the job.
std::vector<MethodPlan> plans_of(const ScalingJob& job, const std::string& method) {
  const MethodPlan plan = parse_method_plan(method);
  if (!plan.in_buckets()) return {plan};
  std::vector<MethodPlan> plans;
  for (double megabytes : job.bucket_megabytes) {
    plans.push_back(plan);
    plans.back().bucket_bytes = megabytes * (1 << 20);
    plans.back().first_bucket_bytes = std::min(plan.first_bucket_bytes, plans.back().bucket_bytes);
  }
  return plans;
}

bool is_exact(const MethodPlan& plan) {
  return run::inexactness(plan.method.sync, false, plan.compress).empty();
}

/// Removes duplicates, and sorts the numbers of workers.
void remove_repetitions(ScalingJob& job) {
  std::sort(job.workers.begin(), job.workers.end());
  job.workers.erase(std::unique(job.workers.begin(), job.workers.end()), job.workers.end());
  std::set<std::string> seen;
  std::erase_if(job.methods, [&](const std::string& one) { return !seen.insert(one).second; });
}

/// The predictions of one method that were not simulated, by workers.
std::vector<const Prediction*> curve_of(const Scaling& scaling, const std::string& method) {
  std::vector<const Prediction*> curve;
  for (const Prediction& one : scaling.predictions)
    if (!one.simulated && one.plan.name == method) curve.push_back(&one);
  return curve;
}

}  // namespace

comm::RecordedWorld world_of(int workers, int per_host) {
  if (per_host < 1) throw UsageError("--ranks-per-host must be 1 or more");
  if (workers <= per_host) return {workers, workers > 1 && per_host > 1 ? workers : 1};
  if (workers % per_host != 0)
    throw UsageError(
        fmt::format("{} workers do not fill hosts of {}: use a multiple of {}, or another "
                    "--ranks-per-host",
                    workers, per_host, per_host));
  return {workers, per_host};
}

void require_valid(const ScalingJob& job) {
  require_list(job.workers.empty(), "--workers");
  require_list(job.methods.empty(), "--methods");
  require_list(job.bucket_megabytes.empty(), "--bucket-mb");
  for (int workers : job.workers) {
    if (workers < 1 || workers > kMostWorkers)
      throw UsageError(
          fmt::format("--workers has {}: each must be from 1 to {}", workers, kMostWorkers));
    world_of(workers, job.per_host);
  }
  for (double megabytes : job.bucket_megabytes)
    if (!(megabytes > 0 && megabytes <= 1 << 20))
      throw UsageError(fmt::format("--bucket-mb has {}: each must be more than 0", megabytes));
  if (!(job.slow_rank >= 1 && std::isfinite(job.slow_rank)))
    throw UsageError("--slow-rank must be 1 or more: it is a factor of the computing time");
  if (!(job.jitter >= 0 && job.jitter < 1)) throw UsageError("--jitter must be from 0 to below 1");
  if (!(job.worth > 0 && job.worth <= 1))
    throw UsageError("--worth must be above 0 and at most 1: it is a fraction of a worker");
}

Cluster cluster_of(const ScalingJob& job, int workers) {
  return {.world = world_of(workers, job.per_host),
          .network = job.network,
          .cores = job.cores,
          .crowding = job.crowding,
          .core_fraction = job.core_fraction,
          .slowest = slowest_of(workers, job.slow_rank, job.jitter)};
}

Prediction predict(const ScalingJob& job, const std::string& method, int workers) {
  const Cluster cluster = cluster_of(job, workers);
  std::optional<Prediction> best;
  for (const MethodPlan& plan : plans_of(job, method)) {
    Prediction one{.plan = plan,
                   .workers = workers,
                   .network = job.network.name,
                   .forecast = forecast(job.run, plan, cluster),
                   .alone = job.run.seconds()};
    if (!best || one.seconds() < best->seconds()) best = one;
  }
  return *best;
}

Scaling predict_scaling(const ScalingJob& job) {
  require_valid(job);
  Scaling scaling{job, {}};
  remove_repetitions(scaling.job);
  for (const std::string& method : scaling.job.methods)
    for (int workers : scaling.job.workers)
      scaling.predictions.push_back(predict(job, method, workers));
  return scaling;
}

std::vector<Prediction> best_by_workers(const Scaling& scaling) {
  const bool some_exact = std::any_of(scaling.predictions.begin(), scaling.predictions.end(),
                                      [](const Prediction& one) { return is_exact(one.plan); });
  std::vector<Prediction> best;
  for (int workers : scaling.job.workers) {
    const Prediction* fastest = nullptr;
    for (const Prediction& one : scaling.predictions)
      if (!one.simulated && one.workers == workers && (is_exact(one.plan) || !some_exact) &&
          (fastest == nullptr || one.seconds() < fastest->seconds()))
        fastest = &one;
    best.push_back(*fastest);
  }
  return best;
}

std::vector<Crossing> crossings(const Scaling& scaling) {
  std::vector<Crossing> found;
  for (const std::string& a : scaling.job.methods)
    for (const std::string& b : scaling.job.methods) {
      if (a == b) continue;
      const auto one = curve_of(scaling, a), other = curve_of(scaling, b);
      const Prediction* slower_at = nullptr;  // the last point; later ones may be equal
      for (std::size_t i = 0; i < one.size(); ++i) {
        if (one[i]->seconds() > other[i]->seconds()) slower_at = one[i];
        if (one[i]->seconds() >= other[i]->seconds() || slower_at == nullptr) continue;
        found.push_back({a, b, slower_at->workers, one[i]->workers});
        slower_at = nullptr;
      }
    }
  return found;
}

int workers_worth_it(const Scaling& scaling) {
  const std::vector<Prediction> best = best_by_workers(scaling);
  int worth = 1;
  double speedup = 1;  // of one worker, even if it is not in the list
  for (const Prediction& one : best) {
    if (one.speedup() - speedup < scaling.job.worth * (one.workers - worth)) break;
    worth = one.workers;
    speedup = one.speedup();
  }
  return worth;
}

std::string verdict_of(const Scaling& scaling) {
  const std::vector<Prediction> best = best_by_workers(scaling);
  const Prediction& most = best.back();
  const int worth = workers_worth_it(scaling);
  std::string text = fmt::format(
      "With {} workers over {}, {} is fastest: {} per iteration, {:.0f} times the images per "
      "second of one worker, at {:.0f} % efficiency.",
      most.workers, most.network, most.plan.name, in_seconds(most.seconds()), most.speedup(),
      100 * most.efficiency());
  if (worth == most.workers)
    text += fmt::format(" Each worker adds at least {:.0f} % of a worker's speed.",
                        100 * scaling.job.worth);
  else if (worth == 1)
    text += fmt::format(" Each worker after the first adds less than {:.0f} % of a worker's speed.",
                        100 * scaling.job.worth);
  else
    text += fmt::format(
        " Up to {} workers, each adds at least {:.0f} % of a worker's speed; beyond that, less.",
        worth, 100 * scaling.job.worth);
  return text;
}

nlohmann::json to_json(const Scaling& scaling) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Prediction& one : scaling.predictions) {
    nlohmann::json row{{"workers", one.workers},
                       {"method", one.plan.name},
                       {"sync", one.plan.method.sync},
                       {"algorithm", name_of(one.plan.method.algorithm)},
                       {"compress", one.plan.compress},
                       {"network", one.network},
                       {"seconds_per_iteration", one.seconds()},
                       {"communication", one.forecast.communication},
                       {"exposed_communication", one.forecast.exposed},
                       {"speedup", one.speedup()},
                       {"efficiency", one.efficiency()},
                       {"simulated", one.simulated}};
    row["bucket_mb"] = one.plan.in_buckets() ? nlohmann::json(one.plan.bucket_bytes / (1 << 20))
                                             : nlohmann::json();
    rows.push_back(std::move(row));
  }
  return {{"predictions", rows},
          {"worth_workers", workers_worth_it(scaling)},
          {"verdict", verdict_of(scaling)}};
}

}  // namespace lockstep::internal::predict
