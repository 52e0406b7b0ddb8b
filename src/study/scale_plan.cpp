// Planning the runs of a scaling study.
#include <lockstep/error.h>

#include "models/model_names.h"
#include "study/compare.h"
#include "study/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::internal::study {

namespace {

template <typename T>
void require_list(const std::vector<T>& values, std::string_view option) {
  if (values.empty()) throw UsageError(fmt::format("{} is empty: give at least one value", option));
  std::set<T> seen;
  for (const T& value : values)
    if (!seen.insert(value).second)
      throw UsageError(fmt::format("{} names {} twice", option, value));
}

int largest_world(const ScaleJob& job) {
  return *std::max_element(job.workers.begin(), job.workers.end());
}

void require_sensible(const ScaleJob& job) {
  require_list(job.workers, "--workers");
  require_list(job.batches, "--batches");
  require_list(job.methods, "--methods");
  for (int workers : job.workers)
    if (workers < 1 || workers > 1024)
      throw UsageError(fmt::format("--workers has {}: each value must be from 1 to 1024", workers));
  if (job.hosts && largest_world(job) > job.hosts->count)
    throw UsageError(fmt::format("--workers has {}, but --hosts is {}: each host has one worker",
                                 largest_world(job), job.hosts->count));
  for (std::size_t batch : job.batches)
    if (batch < 1) throw UsageError("--batches has 0: each worker needs at least 1 image per step");
}

/// Images of an epoch with this number of workers.
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
      "{} workers with {} images each need {} images per step, but an epoch has {}. Use smaller "
      "--batches, fewer --workers or more images: a larger --limit, the whole data set (lockstep "
      "data fetch) or synthetic images (--data synthetic:{}x{}x{},train={})",
      run.config.workers, run.batch, run.config.batch, run.images, shape.channels, shape.height,
      shape.width, most));
}

PlannedRun plan_run(const ScaleJob& job, std::size_t batch, const std::string& method,
                    int workers) {
  PlannedRun run{.name = fmt::format("w{}-b{}", workers, batch),
                 .method = method,
                 .batch = batch,
                 .images = images_of(job, workers),
                 .config = with_method(job.job, method)};
  if (job.methods.size() > 1 && workers > 1) run.name += "-" + method;
  run.config.workers = workers;
  run.config.servers = std::min(run.config.servers, workers);
  run.config.batch = batch * static_cast<std::size_t>(workers);
  run.config.limit = run.images;
  run.config.run_dir = job.job.run_dir / run.name;
  require_enough_images(run, job);
  run.config.validate();
  return run;
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

}  // namespace lockstep::internal::study
