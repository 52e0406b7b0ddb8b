// What the commands that train several times have in common: one run after another, each announced,
// and a table at the end.
#pragma once

#include "cli/table.h"
#include "cli/train/run_training.h"
#include "cli/train/train_options.h"
#include "run/summary.h"

#include <string>

namespace lockstep::internal::cli {

/// Runs of a study. Shows which of them is under way, with a bar on a terminal; nothing if the
/// study's result goes to standard output.
class StudyRuns {
 public:
  /// With the workers on these hosts, unless it is null.
  explicit StudyRuns(std::size_t total, const launch::NetworkHosts* hosts = nullptr)
      : total_(total), hosts_(hosts) {}

  /// `what` says which this is. Its folder lies in the study's, whose files of an earlier study go
  /// before the first run. If a run fails, the study leaves a report of those that were begun.
  run::Summary run(const train::TrainConfig& config, const std::string& what);

 private:
  const std::size_t total_;
  const launch::NetworkHosts* const hosts_;
  std::size_t started_ = 0;
};

/// Writes what a study found to its folder, with where it comes from, leaves the report there, and
/// writes the result to where --json says.
void finish_study(const train::TrainConfig& job, nlohmann::json result);

}  // namespace lockstep::internal::cli
