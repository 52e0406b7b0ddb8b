// The results of lockstep dataflow as tables, for the terminal and the page.
#pragma once

#include "base/table/text_table.h"
#include "dataflow/result.h"

#include <string_view>
#include <vector>

namespace lockstep::internal::cli {

/// Three tables: mapping and time; energy; words moved.
std::vector<TextTable> dataflow_tables(const std::vector<dataflow::Result>& results,
                                       const dataflow::Chip& chip);

/// Compares time, elements and buffer with the measurements. REQUIRES: results of a published model
/// with its batch, in its order.
TextTable published_table(std::string_view model, const std::vector<dataflow::Result>& results,
                          const dataflow::Chip& chip);

}  // namespace lockstep::internal::cli
