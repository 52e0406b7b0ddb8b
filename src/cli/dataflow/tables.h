// The results of lockstep dataflow as tables, for the terminal and the page.
#pragma once

#include "dataflow/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::cli {

struct DataflowTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  nlohmann::json explain = nlohmann::json::object();  ///< column → its meaning

  std::string text(bool colour) const;
  nlohmann::json json() const;
};

/// Three tables: mapping and time; energy; words moved.
std::vector<DataflowTable> dataflow_tables(const std::vector<dataflow::Result>& results,
                                           const dataflow::Chip& chip);

/// Compares time, elements and buffer with the measurements. REQUIRES: results of a published model
/// with its batch, in its order.
DataflowTable published_table(std::string_view model, const std::vector<dataflow::Result>& results,
                              const dataflow::Chip& chip);

}  // namespace lockstep::internal::cli
