// Results as --json writes them.
#pragma once

#include "dataflow/result.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace lockstep::dataflow {

/// One layer, or a total: what has no mapping has none in its JSON.
nlohmann::json json_of(const Result& result, const Chip& chip);

/// {"layers": […], "total": {…}}. The total is that of the first dataflow's rows; where there are
/// several dataflows or passes, "totals" has each of them.
nlohmann::json json_of(const std::vector<Result>& results, const Chip& chip);

nlohmann::json json_of(const Chip& chip);
nlohmann::json json_of(const Mapping& mapping);

/// The rows of one dataflow and pass, for every pair of them in the order in which they appear.
std::vector<std::vector<Result>> by_kind(const std::vector<Result>& results);

}  // namespace lockstep::dataflow
