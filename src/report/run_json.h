// The data of one run on a page.
#pragma once

#include "report/run.h"
#include "report/timeline.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::report {

struct RunLimits {
  std::size_t points = 500;  ///< per curve
  TimelineLimits timeline;
};

/// What a page leaves out of its runs to stay small.
struct LeftOut {
  std::size_t together = 1;           ///< largest number of iterations per point of a curve
  std::size_t spans = 0;              ///< spans left out of all timelines
  std::size_t ranks = 0;              ///< largest number of ranks left out of a timeline
  std::vector<std::string> problems;  ///< one sentence per file that could not be used

  /// One sentence for each kind of omission.
  std::vector<std::string> notes() const;
};

/// The data of a run. Adds its omissions to `left_out`.
nlohmann::json run_json(const Run& run, const RunLimits& limits, LeftOut& left_out);

}  // namespace lockstep::internal::report
