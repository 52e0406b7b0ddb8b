// Metrics: the content of a run's metrics.jsonl that a report shows.
#pragma once

#include "observe/times.h"
#include "report/curve.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>

namespace lockstep::internal::report {

struct RankMetrics {
  Curve iterations;      ///< loss and seconds by iteration
  Curve epochs;          ///< loss and accuracy by epoch
  observe::Times times;  ///< sums over `timed` iterations
  std::size_t timed = 0;

  observe::Times mean_times() const;
};

struct TestScore {
  std::size_t iteration = 0;  ///< the iteration before the test
  double loss = 0;
  double accuracy = 0;
};

/// The loss of a diverged training is NaN.
struct Metrics {
  std::map<int, RankMetrics> ranks;
  std::optional<TestScore> test;  ///< the last test
  std::size_t last_iteration = 0;

  /// Mean over all ranks.
  observe::Times mean_times() const;
};

/// Throws FileError with the number of a malformed line. Times exclude the first iteration, which
/// includes one-time setup, unless it is the only one.
Metrics read_metrics(const std::filesystem::path& file);

}  // namespace lockstep::internal::report
