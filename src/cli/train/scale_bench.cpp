#include "cli/train/scale_bench.h"

#include <lockstep/error.h>

#include "cli/bench/ops.h"
#include "cli/bench/start.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::cli {

namespace {

/// The repetitions that take about a second, from the time of a step; 3 to 50.
int repetitions(const run::Summary& summary) {
  const double step = summary.communication_share * summary.seconds_per_iteration.mean;
  return static_cast<int>(std::clamp(1 / std::max(step, 1e-3), 3.0, 50.0));
}

}  // namespace

std::optional<study::BenchedStep> StepBench::measure(const study::PlannedRun& plan,
                                                     const run::Summary& summary) {
  if (!plan.config.compress.empty())
    return std::nullopt;  // an all-reduce takes longer than compressed messages
  const study::StepSizes messages = study::step_sizes_of(summary, plan.config.run_dir);
  if (messages.empty()) return std::nullopt;
  const Algorithm algorithm = plan.config.method().algorithm;
  const Key key{summary.transport, summary.workers, algorithm, messages};
  if (const auto known = measured_.find(key); known != measured_.end()) return known->second;

  BenchPlan bench{.type = plan.config.type(),
                  .all_algorithms = false,
                  .algorithms = {algorithm},
                  .sizes = {},
                  .repeat = repetitions(summary),
                  .warm_ups = 1};
  for (const auto& [bytes, count] : messages) bench.sizes.push_back(bytes);
  study::BenchedStep step;
  const BenchRun run = measure_on(summary.transport, summary.workers, bench, hosts_);
  for (const BenchResult& result : run.results) {
    if (result.wrong > 0)
      throw InternalError(fmt::format("{} elements of {} bytes were added incorrectly by {}",
                                      result.wrong, result.bytes, name_of(result.algorithm)));
    const int count = messages.at(result.bytes);
    step.seconds += count * result.seconds;
    step.bytes += count * static_cast<double>(result.bytes) *
                  bench_op(bench.op).busbw_factor(summary.workers);
  }
  return measured_[key] = step;
}

}  // namespace lockstep::internal::cli
