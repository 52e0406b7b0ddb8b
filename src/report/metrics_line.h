// One line of metrics.jsonl, read without building a tree of it: a long run has a million of them.
#pragma once

#include "observe/times.h"

#include <string>
#include <string_view>

namespace lockstep::report {

struct MetricsLine {
  std::string kind;  ///< "iteration", "epoch", "test", or of a kind that newer versions know
  int rank = 0;
  double epoch = 0;
  double iteration = 0;
  double loss = 0;      ///< NaN where it was no number any more
  double accuracy = 0;  ///< likewise
  observe::Times times;
};

/// Returns what is wrong with the line; an empty text if `line` is all that it says.
std::string parse_metrics_line(std::string_view text, MetricsLine& line);

}  // namespace lockstep::report
