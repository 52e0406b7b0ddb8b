// A table as text, made once for the terminal and for the report.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace lockstep::study {

struct TextTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< as many cells each as there are columns
  std::map<std::string, std::string> explain;  ///< what some columns mean, by their names
};

/// A share in a cell: 0.25 → "25.0".
inline std::string percent_cell(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

inline nlohmann::json to_json(const TextTable& table) {
  return {{"title", table.title},
          {"columns", table.columns},
          {"rows", table.rows},
          {"explain", table.explain}};
}

}  // namespace lockstep::study
