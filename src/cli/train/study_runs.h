// The runs of a study: `compare` and `scale` train one run after another.
#pragma once

#include "cli/train/run_training.h"
#include "cli/train/train_options.h"
#include "run/summary.h"

#include <string>

namespace lockstep::internal::cli {

/// Prints which run is in progress, with a bar on a terminal. Prints nothing if --json writes to
/// standard output.
class StudyRuns {
 public:
  /// The study's folder; the number of its runs, or of those that it repeats; the style of the
  /// runs' progress where --json does not silence it. Workers are on `hosts`; null for this host.
  StudyRuns(std::filesystem::path folder, std::size_t total, ProgressStyle style,
            const launch::NetworkHosts* hosts = nullptr)
      : folder_(std::move(folder)), total_(total), style_(style), hosts_(hosts) {}

  /// Trains one run, which is announced as `what`. The first run removes files of an earlier study
  /// in the study's folder. If a run fails, writes a report of the runs so far.
  run::Summary run(const train::TrainConfig& config, const std::string& what);

 private:
  const std::filesystem::path folder_;
  const std::size_t total_;
  const ProgressStyle style_;
  const launch::NetworkHosts* const hosts_;
  std::size_t started_ = 0;
};

/// The progress of a study's runs: lines if --log-every was given, else a bar on a terminal.
ProgressStyle study_progress(const CommandOptions& given);

/// Writes the study's result, with its provenance, and its report to the study's folder, and the
/// result to the file of --json.
void finish_study(const train::TrainConfig& job, nlohmann::json result);

}  // namespace lockstep::internal::cli
