// The object that a report's page shows: all its data, and nothing of its looks.
#pragma once

#include "report/source.h"

#include <nlohmann/json.hpp>

namespace lockstep::report {

/// How much of it all a page shows, so that it stays small whatever the runs were. All curves share
/// `points`, all timelines `spans`.
struct PageLimits {
  std::size_t points = 60'000;
  std::size_t points_of_a_curve = 500;
  std::size_t spans = 20'000;
  std::size_t spans_of_a_lane = 400;
};

/// docs/report.md describes it. Throws FileError for what does not fit.
nlohmann::json page_json(const Source& source, const PageLimits& limits = {});

}  // namespace lockstep::report
