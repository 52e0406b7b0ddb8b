// Metrics: the content of a run's metrics.jsonl that a report shows.
#pragma once

#include "base/file_lines.h"
#include "observe/times.h"
#include "report/curve.h"
#include "run/epochs.h"

#include <cstddef>
#include <filesystem>
#include <functional>
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
  std::size_t images = 0;  ///< 0 if the file does not have it
};

/// The loss of a diverged training is NaN.
struct Metrics {
  std::map<int, RankMetrics> ranks;
  run::Epochs epochs;             ///< sums of whole epochs
  std::optional<TestScore> test;  ///< the last test
  std::size_t last_iteration = 0;

  /// Mean over all ranks.
  observe::Times mean_times() const;
};

/// Throws FileError with the number of a malformed line. Times exclude the first iteration, which
/// includes one-time setup, unless it is the only one.
Metrics read_metrics(const std::filesystem::path& file);

/// Reads a metrics.jsonl; read_metrics, or the read() of a FollowedMetrics.
using MetricsReader = std::function<Metrics(const std::filesystem::path& file)>;

/// The metrics of a run under way. Each read() parses only the lines that were added since the last
/// one, unless the file was replaced. Malformed lines are skipped.
class FollowedMetrics {
 public:
  explicit FollowedMetrics(const std::filesystem::path& file) : lines_(file) {}
  const Metrics& read();

 private:
  FollowedLines lines_;
  Metrics metrics_;
};

}  // namespace lockstep::internal::report
