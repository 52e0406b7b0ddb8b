#include "study/scale.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "models/model_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::study {

namespace {

template <typename T>
void require_list(const std::vector<T>& values, std::string_view option) {
  if (values.empty()) throw UsageError(fmt::format("{} is empty: name at least one", option));
  std::set<T> seen;
  for (const T& value : values)
    if (!seen.insert(value).second)
      throw UsageError(fmt::format("{} names {} twice", option, value));
}

void require_sensible(const ScaleJob& job) {
  require_list(job.workers, "--workers");
  require_list(job.batches, "--batches");
  require_list(job.methods, "--methods");
  for (int workers : job.workers)
    if (workers < 1 || workers > 1024)
      throw UsageError(fmt::format("--workers has {}: each must be from 1 to 1024", workers));
  for (std::size_t batch : job.batches)
    if (batch < 1) throw UsageError("--batches has 0: each worker needs an image in every step");
}

int largest_world(const ScaleJob& job) {
  return *std::max_element(job.workers.begin(), job.workers.end());
}

/// Images of an epoch with so many workers.
std::size_t images_of(const ScaleJob& job, int workers) {
  if (!job.weak) return job.images;
  const auto most = static_cast<std::size_t>(largest_world(job));
  return job.images / most * static_cast<std::size_t>(workers);
}

void require_enough_images(const PlannedRun& run, const ScaleJob& job) {
  if (run.config.batch <= run.images) return;
  const data::ImageShape shape = models::images_of(job.job.model);
  const std::size_t most = *std::max_element(job.batches.begin(), job.batches.end()) *
                           static_cast<std::size_t>(largest_world(job));
  throw UsageError(fmt::format(
      "{} workers with {} images each need {} images in a step, and an epoch has {}: take smaller "
      "--batches or fewer --workers, or more images: a larger --limit, the whole data set "
      "(lockstep "
      "data fetch), or images that are made (--data synthetic:{}x{}x{},train={})",
      run.config.workers, run.batch, run.config.batch, run.images, shape.channels, shape.height,
      shape.width, most));
}

PlannedRun plan_run(const ScaleJob& job, std::size_t batch, const std::string& method,
                    int workers) {
  PlannedRun run{.name = fmt::format("w{}-b{}", workers, batch),
                 .batch = batch,
                 .images = images_of(job, workers),
                 .config = job.job};
  if (job.methods.size() > 1 && workers > 1) run.name += "-" + method;
  run.config.workers = workers;
  run.config.batch = batch * static_cast<std::size_t>(workers);
  run.config.sync = method;
  run.config.limit = run.images;
  run.config.run_dir = job.job.run_dir / run.name;
  require_enough_images(run, job);
  run.config.validate();
  return run;
}

/// Images that so many iterations of an epoch's batches have seen.
double images_seen(std::size_t iterations, std::size_t images, std::size_t batch) {
  const std::size_t in_epoch = (images + batch - 1) / batch;
  const std::size_t rest = std::min(images, iterations % in_epoch * batch);
  return static_cast<double>(iterations / in_epoch * images + rest);
}

/// The run that another one is compared with.
const ScaledRun& baseline_of(const std::vector<ScaledRun>& runs, const ScaledRun& run) {
  const ScaledRun* found = &run;
  for (const ScaledRun& other : runs)
    if (other.plan.batch == run.plan.batch &&
        (other.alone() || other.summary.method == run.summary.method) &&
        other.summary.workers < found->summary.workers)
      found = &other;
  return *found;
}

double images_per_second(const ScaledRun& run) {
  return static_cast<double>(run.plan.images) / run.seconds_per_epoch;
}

}  // namespace

std::vector<PlannedRun> plan_scaling(const ScaleJob& job) {
  require_sensible(job);
  std::vector<int> worlds = job.workers;
  std::sort(worlds.begin(), worlds.end());
  std::vector<PlannedRun> runs;
  for (std::size_t batch : job.batches)
    for (const std::string& method : job.methods)
      for (int workers : worlds)
        if (workers > 1 || method == job.methods.front())
          runs.push_back(plan_run(job, batch, method, workers));
  return runs;
}

std::optional<double> ScaledRun::bench_mbs() const {
  if (!bench_seconds || *bench_seconds <= 0) return std::nullopt;
  return summary.bytes_per_iteration / *bench_seconds / 1e6;
}

std::optional<double> ScaledRun::bandwidth_share() const {
  const std::optional<double> bench = bench_mbs();
  if (!bench || *bench <= 0) return std::nullopt;
  return summary.bandwidth_mbs / *bench;
}

double seconds_of_epoch(const train::Summary& summary, std::size_t images) {
  const train::Distribution& seconds = summary.seconds_per_iteration;
  const double all = seconds.mean * static_cast<double>(summary.iterations - 1) + seconds.p50;
  return all * static_cast<double>(images) /
         images_seen(summary.iterations, images, summary.global_batch);
}

void compare_with_baseline(std::vector<ScaledRun>& runs) {
  for (ScaledRun& run : runs) {
    const ScaledRun& baseline = baseline_of(runs, run);
    run.speedup = images_per_second(run) / images_per_second(baseline);
    run.efficiency = run.speedup * baseline.summary.workers / run.summary.workers;
  }
}

Scaling scale(const ScaleJob& job, const RunPlanned& run, const MeasureMessages& bench) {
  const std::vector<PlannedRun> plans = plan_scaling(job);
  Scaling scaling{.job = job, .runs = {}, .baseline_workers = plans.front().config.workers};
  for (const PlannedRun& plan : plans) {
    make_folder(plan.config.run_dir);
    ScaledRun scaled{.plan = plan, .summary = run(plan), .bench_seconds = {}};
    scaled.seconds_per_epoch = seconds_of_epoch(scaled.summary, plan.images);
    scaled.oversubscribed = scaled.summary.workers * scaled.summary.threads > job.cores;
    if (!scaled.alone()) scaled.bench_seconds = bench(plan, scaled.summary);
    scaling.runs.push_back(std::move(scaled));
  }
  compare_with_baseline(scaling.runs);
  return scaling;
}

}  // namespace lockstep::study
