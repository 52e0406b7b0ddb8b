#include "study/step_sizes.h"

#include <lockstep/error.h>

#include "run/trace_file.h"

#include <cmath>
#include <utility>
#include <vector>

namespace lockstep::internal::study {

namespace {

/// All gradients as one array. Its size follows from the bytes that a rank moves on average, which
/// are 2(W−1)/W of it for every method.
StepSizes all_at_once(const run::Summary& summary) {
  const double ranks = summary.workers;
  const double bytes = summary.bytes_per_iteration * ranks / (2 * (ranks - 1));
  if (bytes < 1) return {};
  return {{static_cast<std::size_t>(std::lround(bytes)), 1}};
}

/// Rank 0's collectives in the last iteration of the file. The event of an iteration comes after
/// those inside it; collectives between iterations do not count.
StepSizes last_iteration_in(const std::filesystem::path& trace) {
  std::vector<run::TraceFileEvent> collectives;
  StepSizes last;
  run::for_each_event(trace, false, [&](const run::TraceFileEvent& event) {
    if (event.rank != 0) return;
    if (event.kind == "collective") collectives.push_back(event);
    if (event.kind != "iteration") return;
    last.clear();
    for (const run::TraceFileEvent& collective : std::exchange(collectives, {}))
      if (collective.start >= event.start) ++last[static_cast<std::size_t>(collective.bytes)];
  });
  return last;
}

}  // namespace

StepSizes step_sizes_of(const run::Summary& summary, const std::filesystem::path& run_dir) {
  const std::filesystem::path file = run_dir / "trace.json";
  const bool reduces =
      summary.sync == "ddp" || summary.sync == "all-reduce" || summary.sync == summary.algorithm;
  if (!reduces || !std::filesystem::exists(file)) return all_at_once(summary);
  try {
    StepSizes sizes = last_iteration_in(file);
    return sizes.empty() ? all_at_once(summary) : sizes;
  } catch (const FileError&) {
    return all_at_once(summary);  // a damaged trace
  }
}

}  // namespace lockstep::internal::study
