// What the commands that train several times have in common: one run after another, each announced,
// and a table at the end.
#pragma once

#include "cli/run_training.h"
#include "cli/train_options.h"
#include "study/text_table.h"
#include "train/summary.h"

#include <optional>
#include <string>

namespace lockstep::cli {

/// Runs of a study. Shows which of them is under way, with a bar on a terminal; nothing if the
/// study's result goes to standard output.
class StudyRuns {
 public:
  /// With the workers on these hosts, unless it is null.
  StudyRuns(const TrainView& view, std::size_t total, const launch::NetworkHosts* hosts = nullptr)
      : view_(view), total_(total), hosts_(hosts) {}

  /// `what` says which this is. Its folder lies in the study's, whose files of an earlier study go
  /// before the first run. If a run fails, the study leaves a report of those that were begun.
  train::Summary run(const train::TrainConfig& config, const std::string& what);

 private:
  const TrainView& view_;
  const std::size_t total_;
  const launch::NetworkHosts* const hosts_;
  std::size_t started_ = 0;
};

/// With an empty line before and after it. A row may stand out; counted from 0.
void print_table(const study::TextTable& table, std::optional<std::size_t> emphasised = {});

/// Writes what a study found to its folder, with where it comes from, leaves the report there, and
/// writes the result to where --json says.
void finish_study(const train::TrainConfig& job, const TrainView& view, nlohmann::json result);

}  // namespace lockstep::cli
