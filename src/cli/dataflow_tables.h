// What lockstep dataflow finds, as tables: printed, and on its page.
#pragma once

#include "dataflow/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct DataflowTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  nlohmann::json explain = nlohmann::json::object();  ///< column → what it means

  std::string text(bool colour) const;
  nlohmann::json json() const;
};

/// Mapping and time; energy; words moved; where it can be, beside what was published.
std::vector<DataflowTable> dataflow_tables(const std::vector<dataflow::Result>& results,
                                           const dataflow::Chip& chip);

/// Time, elements and buffer beside the chip's own. REQUIRES: results of a published network with
/// its batch, in its order.
DataflowTable published_table(std::string_view network,
                              const std::vector<dataflow::Result>& results,
                              const dataflow::Chip& chip);

}  // namespace lockstep::cli
