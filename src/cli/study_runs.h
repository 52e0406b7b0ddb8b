// What the commands that train several times have in common: one run after another, each announced,
// and a table at the end.
#pragma once

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
  StudyRuns(const TrainView& view, std::size_t total) : view_(view), total_(total) {}

  /// `what` says which this is.
  train::Summary run(const train::TrainConfig& config, const std::string& what);

 private:
  const TrainView& view_;
  const std::size_t total_;
  std::size_t started_ = 0;
};

/// With an empty line before and after it. A row may stand out; counted from 0.
void print_table(const study::TextTable& table, std::optional<std::size_t> emphasised = {});

}  // namespace lockstep::cli
