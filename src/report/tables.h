// A report's tables: cells are text, as on a terminal.
#pragma once

#include "report/run.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace lockstep::report {

// Each is {"title", "columns", "rows", "explain"}.

/// The main figures of several runs, a row each.
nlohmann::json runs_table(const std::vector<Run>& runs);
/// What came out of one run that ended well, over all ranks.
nlohmann::json summary_table(const Run& run);
/// A row a rank; of a run that stopped, out of its metrics.
nlohmann::json ranks_table(const Run& run);

/// The tables in a study's summary.json, checked. Throws FileError.
nlohmann::json study_tables(const Fields& study);

}  // namespace lockstep::report
