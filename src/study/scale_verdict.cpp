// The verdict of scale: sentences derived from its measurements.
#include "base/text.h"
#include "study/scale_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace lockstep::internal::study {

namespace {

using Runs = std::vector<const ScaledRun*>;

/// Smaller differences in efficiency are not mentioned: repeated runs differ by as much.
constexpr double kNoise = 0.05;

std::string workers_text(int workers) {
  return fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

/// "512 images per worker", with the method if there are several.
std::string setting(const Scaling& scaling, const ScaledRun& run) {
  const std::string images = fmt::format("{} images per worker", run.plan.batch);
  if (scaling.job.methods.size() == 1) return images;
  return fmt::format("{}, {}", run.summary.method, images);
}

bool is_exact(const ScaledRun* run) {
  return run->plan.config.inexactness().empty();
}

/// The runs with more workers than the baseline that have a core for each thread. Those of exact
/// methods, if there are any: others are faster because they do something else.
Runs fair_runs(const Scaling& scaling) {
  Runs runs;
  for (const ScaledRun& run : scaling.runs)
    if (!run.oversubscribed && run.summary.workers > scaling.baseline_workers) runs.push_back(&run);
  if (std::any_of(runs.begin(), runs.end(), is_exact))
    std::erase_if(runs, [](const ScaledRun* run) { return !is_exact(run); });
  return runs;
}

/// The runs with the largest number of workers.
Runs largest_world(const Runs& runs) {
  int workers = 0;
  for (const ScaledRun* run : runs) workers = std::max(workers, run->summary.workers);
  Runs largest;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(largest),
               [&](const ScaledRun* run) { return run->summary.workers == workers; });
  return largest;
}

bool less_efficient(const ScaledRun* a, const ScaledRun* b) {
  return a->efficiency < b->efficiency;
}

std::string how_it_scales(const Scaling& scaling, const Runs& largest) {
  const auto [worst, best] = std::minmax_element(largest.begin(), largest.end(), less_efficient);
  const std::string text =
      fmt::format("{} {} {:.2f} times {} {} ({:.0f} % of the ideal)",
                  workers_text((*best)->summary.workers), scaling.job.weak ? "process" : "are",
                  (*best)->speedup, scaling.job.weak ? "the images per second of" : "as fast as",
                  scaling.baseline_workers, 100 * (*best)->efficiency);
  if (largest.size() == 1) return text + ".";
  return fmt::format("{} with {}, and {:.2f} times ({:.0f} %) with {}.", text,
                     setting(scaling, **best), (*worst)->speedup, 100 * (*worst)->efficiency,
                     setting(scaling, **worst));
}

/// Seconds per epoch that a run lost to one cause, and the name of the cause.
struct Loss {
  double seconds;
  std::string what;
};

/// The largest part of the time that an ideally scaling run would not have needed.
Loss largest_loss(const Scaling& scaling, const ScaledRun& run) {
  double ideal_compute = run.compute_seconds();
  for (const ScaledRun& base : scaling.runs)
    if (base.plan.batch == run.plan.batch && base.summary.workers == scaling.baseline_workers)
      ideal_compute =
          base.compute_seconds() * run.seconds_per_epoch * run.efficiency / base.seconds_per_epoch;
  const Loss losses[] = {{run.transfer_seconds(), "moving gradients that backward does not hide"},
                         {run.wait_seconds(), "waiting for the slowest worker"},
                         {run.compute_seconds() - ideal_compute,
                          "computing more slowly, because workers share memory, caches and clock"},
                         {run.data_seconds(), "loading data"}};
  return *std::max_element(std::begin(losses), std::end(losses),
                           [](const Loss& a, const Loss& b) { return a.seconds < b.seconds; });
}

std::string what_limits(const Scaling& scaling, const Runs& largest) {
  const ScaledRun& worst = **std::min_element(largest.begin(), largest.end(), less_efficient);
  if (worst.efficiency > 1 - kNoise) return "";
  const Loss loss = largest_loss(scaling, worst);
  return fmt::format(" {} lost time is mostly spent {} ({:.0f} % of the time).",
                     largest.size() > 1 ? "There, the" : "The", loss.what,
                     100 * loss.seconds / worst.seconds_per_epoch);
}

/// "with 32 and 128 images per worker", or with several methods "(ddp: 32; ring: 32, 128 images per
/// worker)".
std::string list_batches(const Scaling& scaling,
                         const std::map<std::string, std::vector<std::string>>& by_method) {
  if (scaling.job.methods.size() == 1)
    return fmt::format("with {} images per worker", enumerate(by_method.begin()->second));
  std::vector<std::string> texts;
  for (const auto& [method, batches] : by_method)
    texts.push_back(fmt::format("{}: {}", method, fmt::join(batches, ", ")));
  return fmt::format("({} images per worker)", fmt::join(texts, "; "));
}

/// For each batch and method, the smallest number of workers with an efficiency below 50 %.
std::string where_efficiency_is_low(const Scaling& scaling, const Runs& fair) {
  std::map<int, std::map<std::string, std::vector<std::string>>>
      places;  // workers, method: batches
  std::set<std::pair<std::string, std::size_t>> seen;
  for (const ScaledRun* run : fair)
    if (run->efficiency < 0.5 && seen.emplace(run->summary.method, run->plan.batch).second)
      places[run->summary.workers][run->summary.method].push_back(std::to_string(run->plan.batch));
  std::vector<std::string> texts;
  for (const auto& [workers, by_method] : places)
    texts.push_back(
        fmt::format("from {} workers on {}", workers, list_batches(scaling, by_method)));
  if (texts.empty()) return "";
  return fmt::format(" Efficiency falls below 50 % {}.", enumerate(texts));
}

/// Compares the smallest with the most efficient batch, both with the first method.
std::string which_batch_helps(const Scaling& scaling, const Runs& largest) {
  Runs runs;
  for (const ScaledRun* run : largest)
    if (run->plan.method == scaling.job.methods.front()) runs.push_back(run);
  if (runs.size() < 2) return "";
  const auto by_batch = [](const ScaledRun* a, const ScaledRun* b) {
    return a->plan.batch < b->plan.batch;
  };
  const ScaledRun& smallest = **std::min_element(runs.begin(), runs.end(), by_batch);
  const ScaledRun& best = **std::max_element(runs.begin(), runs.end(), less_efficient);
  if (best.efficiency < smallest.efficiency + kNoise) return "";
  return fmt::format(
      " Larger batches help: communication takes {:.3g} s per epoch with {} images per worker and "
      "{:.3g} s with {}.",
      smallest.communication_seconds(), smallest.plan.batch, best.communication_seconds(),
      best.plan.batch);
}

/// Runs of methods that are not exact and faster than every exact method with the same workers and
/// batch.
std::string what_is_not_exact(const Scaling& scaling) {
  std::string text;
  for (const ScaledRun& run : scaling.runs) {
    if (run.oversubscribed || run.alone() || is_exact(&run)) continue;
    double exact = 0;
    for (const ScaledRun& other : scaling.runs)
      if (is_exact(&other) && other.plan.batch == run.plan.batch &&
          other.summary.workers == run.summary.workers)
        exact = std::max(exact, other.speedup);
    if (exact > 0 && run.speedup > exact * (1 + kNoise))
      text += fmt::format(
          " {} with {} and {} images each has a speed-up of {:.2f}, exact methods at most {:.2f}; "
          "it is not exact: {}.",
          run.summary.method, workers_text(run.summary.workers), run.plan.batch, run.speedup, exact,
          run.plan.config.inexactness());
  }
  return text;
}

std::string beyond_cores(const Scaling& scaling) {
  std::vector<SpeedUp> speedups;
  for (const ScaledRun& run : scaling.runs)
    if (!run.alone())
      speedups.push_back(
          {run.plan.name, run.speedup, run.summary, scaling.runs[run.baseline].summary});
  const std::string remark = on_impossible_speedups(speedups, scaling.job.machine);
  return remark.empty() ? "" : " " + remark;
}

std::string overhead_only(const Scaling& scaling) {
  std::set<int> worlds;
  int threads = 1;
  for (const ScaledRun& run : scaling.runs)
    if (run.oversubscribed) {
      worlds.insert(run.summary.workers);
      threads = run.summary.threads;
    }
  if (worlds.empty()) return "";
  std::vector<std::string> texts;
  for (int workers : worlds) texts.push_back(std::to_string(workers));
  return fmt::format(
      "Runs with {} workers (marked *) have more threads than the {} core{} here, at {} per "
      "worker: they measure overhead, not speed-up.",
      enumerate(texts), scaling.job.machine.cores, scaling.job.machine.cores == 1 ? "" : "s",
      threads);
}

}  // namespace

std::string scale_verdict(const Scaling& scaling) {
  const Runs fair = fair_runs(scaling);
  std::string text;
  if (std::none_of(scaling.runs.begin(), scaling.runs.end(), [&](const ScaledRun& run) {
        return run.summary.workers > scaling.baseline_workers;
      })) {
    text = fmt::format("All runs have {}: they compare batches, not numbers of workers.",
                       workers_text(scaling.baseline_workers));
  } else if (fair.empty()) {
    text =
        "No run with more workers has a core for each thread: this does not show how the job "
        "scales.";
  } else {
    const Runs largest = largest_world(fair);
    text = how_it_scales(scaling, largest) + what_limits(scaling, largest) +
           where_efficiency_is_low(scaling, fair) + which_batch_helps(scaling, largest);
  }
  text += what_is_not_exact(scaling) + beyond_cores(scaling);
  const std::string overhead = overhead_only(scaling);
  return overhead.empty() ? text : text + " " + overhead;
}

}  // namespace lockstep::internal::study
