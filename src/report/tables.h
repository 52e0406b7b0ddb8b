// The tables of a report. All cells are text.
#pragma once

#include "report/run.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace lockstep::internal::report {

// Each is {"title", "columns", "rows", "explain"}.

/// The main figures of several runs, one row per run.
nlohmann::json runs_table(const std::vector<Run>& runs);
/// The figures of one complete run over all ranks. REQUIRES: the run has a summary.
nlohmann::json summary_table(const Run& run);
/// One row per rank, from the summary, or from the metrics of an incomplete run.
nlohmann::json ranks_table(const Run& run);

/// The tables in a study's summary.json. Throws FileError if they are malformed.
nlohmann::json study_tables(const run::Fields& study);

}  // namespace lockstep::internal::report
