// MetricsLine: one line of metrics.jsonl. Lines are parsed without building a JSON tree, because a
// long run has a million of them.
#pragma once

#include "observe/times.h"

#include <string>
#include <string_view>

namespace lockstep::internal::run {

struct MetricsLine {
  std::string kind;  ///< "iteration", "epoch", "test", or a kind of a newer version
  int rank = 0;
  double epoch = 0;
  double iteration = 0;
  double loss = 0;      ///< NaN if training diverged
  double accuracy = 0;  ///< NaN if training diverged
  double samples = 0;   ///< NaN if the line does not have it
  double lr = 0;        ///< NaN if the line does not have it
  observe::Times times;
};

/// Parses `text` into `line`. Returns a description of the first problem, or an empty string on
/// success. For an unknown kind only `kind` and `iteration` are set; `iteration` is infinite if the
/// line has none.
std::string parse_metrics_line(std::string_view text, MetricsLine& line);

}  // namespace lockstep::internal::run
