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
  /// Workers are on these hosts; null for this host.
  explicit StudyRuns(std::size_t total, const launch::NetworkHosts* hosts = nullptr)
      : total_(total), hosts_(hosts) {}

  /// Trains one run, which is announced as `what`. Its folder is in the study's folder; the first
  /// run removes files of an earlier study there. If a run fails, writes a report of the runs so
  /// far.
  run::Summary run(const train::TrainConfig& config, const std::string& what);

 private:
  const std::size_t total_;
  const launch::NetworkHosts* const hosts_;
  std::size_t started_ = 0;
};

/// Writes the study's result, with its provenance, and its report to the study's folder, and the
/// result to the file of --json.
void finish_study(const train::TrainConfig& job, nlohmann::json result);

}  // namespace lockstep::internal::cli
