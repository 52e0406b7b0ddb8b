// The data of a report's page as one JSON object.
#pragma once

#include "report/source.h"

#include <nlohmann/json.hpp>

namespace lockstep::internal::report {

/// Limits that keep a page small. `points` are divided among all curves, `spans` among all
/// timelines.
struct PageLimits {
  std::size_t points = 60'000;
  std::size_t points_of_a_curve = 500;
  std::size_t spans = 20'000;
  std::size_t spans_of_a_lane = 400;
  std::size_t epoch_rows = 1000;  ///< of the table of epochs
};

/// docs/report.md describes the page. Throws FileError for malformed files.
nlohmann::json page_json(const Source& source, const PageLimits& limits = {});

}  // namespace lockstep::internal::report
