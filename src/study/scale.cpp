#include "study/scale.h"

#include "base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::study {

namespace {

/// Images processed in `iterations` iterations. The last batch of an epoch may be smaller.
double images_seen(std::size_t iterations, std::size_t images, std::size_t batch) {
  const std::size_t in_epoch = (images + batch - 1) / batch;
  const std::size_t rest = std::min(images, iterations % in_epoch * batch);
  return static_cast<double>(iterations / in_epoch * images + rest);
}

/// The index of the run that another one is compared with.
std::size_t baseline_of(const std::vector<ScaledRun>& runs, std::size_t index) {
  const ScaledRun& run = runs[index];
  std::size_t found = index;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (const ScaledRun& other = runs[i];
        other.plan.batch == run.plan.batch &&
        (other.alone() || other.summary.method == run.summary.method) &&
        other.summary.workers < runs[found].summary.workers)
      found = i;
  return found;
}

/// Estimated memory of a run, from an earlier run with the same batch; 0 if there is none.
double bytes_needed(const std::vector<ScaledRun>& runs, const PlannedRun& plan) {
  for (const ScaledRun& run : runs) {
    if (run.plan.batch != plan.batch) continue;
    // Ranks that are threads report the memory of their common process.
    const int ranks = run.summary.transport == "thread" ? run.summary.workers : 1;
    return static_cast<double>(run.summary.peak_rss_bytes) / ranks * plan.config.workers;
  }
  return 0;
}

/// Why a run does not fit into memory; empty if it does. Leaves a tenth to other processes.
std::string too_large(const Scaling& scaling, const PlannedRun& plan) {
  constexpr double kUsable = 0.9;
  if (!scaling.job.free_memory) return "";
  const double needed = bytes_needed(scaling.runs, plan);
  const double free = scaling.job.free_memory();
  if (needed <= kUsable * free) return "";
  return fmt::format(
      "{} was skipped: {} workers with {} images each would need {:.1f} GB of memory, but only "
      "{:.1f} GB were free.",
      plan.name, plan.config.workers, plan.batch, needed / 1e9, free / 1e9);
}

/// Of the epochs that have all images: the last one may be a part.
std::map<std::size_t, double> seconds_of_epochs(const run::Summary& summary, std::size_t images) {
  std::map<std::size_t, double> seconds;
  for (const run::EpochResults& its : summary.epoch_results)
    if (std::round(its.images_per_second * its.seconds) == static_cast<double>(images))
      seconds[its.epoch] = its.seconds;
  return seconds;
}

double communication_seconds_per_step(const run::Summary& summary) {
  return summary.communication_share * summary.seconds_per_iteration.mean;
}

double bytes_per_step(const ScaledRun& run) {
  if (run.summary.bytes_per_iteration > 0 || !run.bench) return run.summary.bytes_per_iteration;
  return run.bench->bytes;
}

double images_per_second(const ScaledRun& run) {
  return static_cast<double>(run.plan.images) / run.seconds_per_epoch;
}

}  // namespace

double ScaledRun::bandwidth_mbs() const {
  const double seconds = communication_seconds_per_step(summary);
  return seconds > 0 ? bytes_per_step(*this) / seconds / 1e6 : 0;
}

std::optional<double> ScaledRun::bench_mbs() const {
  if (!bench || bench->seconds <= 0) return std::nullopt;
  return bytes_per_step(*this) / bench->seconds / 1e6;
}

std::optional<double> ScaledRun::bandwidth_share() const {
  const double seconds = communication_seconds_per_step(summary);
  if (!bench || seconds <= 0) return std::nullopt;
  return bench->seconds / seconds;
}

double seconds_of_epoch(const run::Summary& summary, std::size_t images) {
  const run::Distribution& seconds = summary.seconds_per_iteration;
  const double all = seconds.mean * static_cast<double>(summary.iterations - 1) + seconds.p50;
  return all * static_cast<double>(images) /
         images_seen(summary.iterations, images, summary.global_batch);
}

void compare_with_baseline(std::vector<ScaledRun>& runs) {
  for (ScaledRun& run : runs) {
    run.baseline = baseline_of(runs, static_cast<std::size_t>(&run - runs.data()));
    const ScaledRun& baseline = runs[run.baseline];
    run.speedup = images_per_second(run) / images_per_second(baseline);
    run.efficiency = run.speedup * baseline.summary.workers / run.summary.workers;
  }
}

Scaling scale(const ScaleJob& job, const RunPlanned& run, const MeasureMessages& bench) {
  const std::vector<PlannedRun> plans = plan_scaling(job);
  Scaling scaling{.job = job, .runs = {}, .baseline_workers = plans.front().config.workers};
  for (const PlannedRun& plan : plans) {
    const std::string why_not = too_large(scaling, plan);
    if (!why_not.empty()) {
      scaling.left_out.push_back(why_not);
      continue;
    }
    make_folder(plan.config.run_dir);
    ScaledRun scaled{.plan = plan, .summary = run(plan), .bench = {}};
    scaled.epoch_seconds = seconds_of_epochs(scaled.summary, plan.images);
    scaled.seconds_per_epoch = seconds_of_epoch(scaled.summary, plan.images);
    scaled.oversubscribed = scaled.summary.workers * scaled.summary.threads > job.machine.cores;
    if (!scaled.alone()) scaled.bench = bench(plan, scaled.summary);
    scaling.runs.push_back(std::move(scaled));
  }
  compare_with_baseline(scaling.runs);
  return scaling;
}

}  // namespace lockstep::internal::study
