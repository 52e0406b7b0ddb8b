// One run's part of a page's data.
#pragma once

#include "report/run.h"
#include "report/timeline.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::report {

struct RunLimits {
  std::size_t points = 500;  ///< of a curve
  TimelineLimits timeline;
};

/// What pages left out of their runs, so that they stay small.
struct LeftOut {
  std::size_t together = 1;  ///< iterations that a point of a curve stands for, at most
  std::size_t spans = 0;     ///< of timelines
  std::size_t ranks = 0;     ///< of a timeline, at most
  std::vector<std::string> problems;

  std::vector<std::string> notes() const;
};

/// Adds to what was left out.
nlohmann::json run_json(const Run& run, const RunLimits& limits, LeftOut& left_out);

}  // namespace lockstep::report
