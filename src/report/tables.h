// The tables of a report.
#pragma once

#include "base/table/text_table.h"
#include "report/source.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace lockstep::internal::report {

/// The ranks and the figures of one run, the tables of a study, or the main figures of several
/// runs.
std::vector<TextTable> tables_of(const Source& source);

/// All tables of the page: these, and the ranks of the runs that have a post-mortem, or the error
/// of an unusable postmortem.json.
std::vector<TextTable> all_tables_of(const Source& source);

/// The tables of a page, each as {"title", "columns", "rows", "explain"}, and "clean" with the
/// columns and rows of one number per cell if they differ.
nlohmann::json page_tables(const std::vector<TextTable>& tables);

}  // namespace lockstep::internal::report
