#include "cli/scale_bench.h"

#include <lockstep/error.h>

#include "cli/bench_start.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

namespace {

/// As many as fit into about a second, by what a step took: a few.
int repetitions(const train::Summary& summary) {
  const double step = summary.communication_share * summary.seconds_per_iteration.mean;
  return static_cast<int>(std::clamp(1 / std::max(step, 1e-3), 3.0, 50.0));
}

}  // namespace

double StepBench::seconds(const study::PlannedRun& plan, const train::Summary& summary) {
  const study::Messages messages = study::messages_of(summary, plan.config.run_dir);
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
  double sum = 0;
  for (const BenchResult& result : measure_on(summary.transport, summary.workers, bench).results) {
    if (result.wrong > 0)
      throw InternalError(fmt::format("{} elements of {} bytes were added up wrongly by {}",
                                      result.wrong, result.bytes, name_of(result.algorithm)));
    sum += messages.at(result.bytes) * result.seconds;
  }
  return measured_[key] = sum;
}

}  // namespace lockstep::cli
