// The tables of a report.
#pragma once

#include "base/table/text_table.h"
#include "report/source.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

namespace lockstep::internal::report {

/// The ranks, figures and epochs of one run; or the tables of a study, or the main figures of
/// several runs, and then their ranks. Last, what they exchanged. A table of epochs has at most
/// `most_epoch_rows`.
std::vector<TextTable> tables_of(const Source& source, std::size_t most_epoch_rows);

/// All tables of the page: these, and the ranks of the runs that have a post-mortem, or the error
/// of an unusable postmortem.json.
std::vector<TextTable> all_tables_of(const Source& source);

/// The tables of a page, each as {"title", "columns", "rows", "explain"}, and "clean" with the
/// columns and rows of one number per cell if they differ.
nlohmann::json page_tables(const std::vector<TextTable>& tables);

}  // namespace lockstep::internal::report
