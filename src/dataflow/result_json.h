// Results in the format of --json.
#pragma once

#include "dataflow/result.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace lockstep::internal::dataflow {

/// One layer, or a total. Without a mapping, the JSON has none.
nlohmann::json json_of(const Result& result, const Chip& chip);

/// {"layers": […], "total": {…}}. The total is that of the first dataflow. With several dataflows
/// or passes, "totals" has one total for each.
nlohmann::json json_of(const std::vector<Result>& results, const Chip& chip);

nlohmann::json json_of(const Chip& chip);
nlohmann::json json_of(const Mapping& mapping);

/// The results grouped by dataflow and pass, in the order of their first appearance.
std::vector<std::vector<Result>> by_kind(const std::vector<Result>& results);

}  // namespace lockstep::internal::dataflow
