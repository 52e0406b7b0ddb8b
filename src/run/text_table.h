// TextTable: a table of text cells, shown on the terminal and in the report.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::run {

struct TextTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each has one cell per column
  std::map<std::string, std::string> explain;  ///< explanations of columns, by column name
};

/// A fraction as a cell in percent: 0.25 → "25.0".
inline std::string percent_cell(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

inline nlohmann::json to_json(const TextTable& table) {
  return {{"title", table.title},
          {"columns", table.columns},
          {"rows", table.rows},
          {"explain", table.explain}};
}

}  // namespace lockstep::internal::run
