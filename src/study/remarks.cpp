#include "study/remarks.h"

#include "base/table/quantities.h"
#include "base/text.h"
#include "launch/hosts/machine.h"
#include "run/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace lockstep::internal::study {

namespace {

/// Busy threads above which the load is mentioned: an idle machine has fewer.
constexpr double kBusy = 0.5;
/// Speed-ups may be larger by this factor without a remark.
constexpr double kMargin = 1.1;

int cores_of(const run::Summary& summary, const Machine& machine) {
  return std::max(1, std::min(summary.workers * summary.threads, machine.cores));
}

/// Images of one worker in a step.
double batch_of(const run::Summary& summary) {
  return static_cast<double>(summary.global_batch) / std::max(1, summary.workers);
}

std::vector<std::string> reasons_for(const SpeedUp& speedup, const Machine& machine) {
  const auto& [name, times, run, baseline] = speedup;
  std::vector<std::string> reasons;
  if (const run::Distribution& seconds = baseline.seconds_per_iteration;
      seconds.mean > run::kNearMedian * seconds.p50)
    reasons.push_back(fmt::format(
        "the baseline ran unevenly (mean iteration {}, median {}), as on a busy machine",
        in_seconds(seconds.mean), in_seconds(seconds.p50)));
  if (machine.load > kBusy) reasons.emplace_back("other programs were running");
  if (baseline.threads > run.threads)
    reasons.push_back(
        fmt::format("{} threads do not make one worker {} times as fast, least of all with small "
                    "layers",
                    baseline.threads, baseline.threads));
  if (batch_of(run) < batch_of(baseline))
    reasons.emplace_back("a worker's smaller part of the batch fits its caches better");
  if (reasons.empty()) reasons.emplace_back("the baseline was slowed by other programs");
  return reasons;
}

}  // namespace

Machine this_machine() {
  Machine machine{.cores = launch::find_cores().usable()};
  if (::getloadavg(&machine.load, 1) < 1) machine.load = 0;
  return machine;
}

std::string on_busy_machine(const Machine& machine) {
  if (machine.load <= kBusy) return "";
  return fmt::format(
      "In the minute before the study, {:.1f} threads were busy on {}: if they kept "
      "running, the measured times are too long.",
      machine.load, counted(machine.cores, "core"));
}

double speedup_of_cores(const SpeedUp& speedup, const Machine& machine) {
  return static_cast<double>(cores_of(speedup.run, machine)) / cores_of(speedup.baseline, machine);
}

std::string on_impossible_speedups(const std::vector<SpeedUp>& speedups, const Machine& machine) {
  std::map<double, std::vector<std::string>> found;  // by the largest possible speed-up
  std::vector<std::string> reasons;
  for (const SpeedUp& speedup : speedups) {
    const double most = speedup_of_cores(speedup, machine);
    if (speedup.times <= kMargin * most) continue;
    found[most].push_back(fmt::format("{} ({:.2f})", speedup.name, speedup.times));
    for (std::string& reason : reasons_for(speedup, machine))
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
        reasons.push_back(std::move(reason));
  }
  if (found.empty()) return "";
  std::vector<std::string> clauses;
  for (const auto& [most, names] : found)
    clauses.push_back(fmt::format("of at most {:.3g}, exceeded by {}", most, enumerate(names)));
  return fmt::format("{} explain{} a speed-up {}. Possible reasons: {}.",
                     counted(machine.cores, "core"), machine.cores == 1 ? "s" : "",
                     fmt::join(clauses, "; "), fmt::join(reasons, "; "));
}

}  // namespace lockstep::internal::study
