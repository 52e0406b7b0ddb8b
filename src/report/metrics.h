// Metrics: what a run folder's metrics.jsonl has measured, as far as a report shows it.
#pragma once

#include "observe/times.h"
#include "report/curve.h"
#include "report/metrics_line.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

namespace lockstep::report {

struct RankMetrics {
  Curve iterations;      ///< loss and seconds by iteration
  Curve epochs;          ///< loss and accuracy by epoch
  observe::Times times;  ///< sums over `timed` iterations
  std::size_t timed = 0;

  observe::Times mean_times() const;
};

struct TestScore {
  std::size_t iteration = 0;  ///< that it came after
  double loss = 0;
  double accuracy = 0;
};

/// A loss that was no number any more is NaN.
struct Metrics {
  std::map<int, RankMetrics> ranks;
  std::optional<TestScore> test;  ///< the last
  std::size_t last_iteration = 0;

  /// Over all ranks.
  observe::Times mean_times() const;
};

/// Calls `take` with each line of the file in turn. A last line that was only begun when the run
/// ended is passed over. Throws FileError that names the line if another one is not as Lockstep
/// writes it.
void for_each_metric(const std::filesystem::path& file,
                     const std::function<void(const MetricsLine&)>& take);

/// Reads the file likewise. The first iteration pays for what is set up once: it is in no times if
/// there are others.
Metrics read_metrics(const std::filesystem::path& file);

}  // namespace lockstep::report
