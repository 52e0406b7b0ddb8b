// TextTable: a table of text cells, for the terminal, for reports and for files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal {

struct TableColumn {
  TableColumn(std::string its_name, std::string its_explanation = {})
      : name(std::move(its_name)), explanation(std::move(its_explanation)) {}
  TableColumn(const char* its_name, std::string its_explanation = {})
      : TableColumn(std::string(its_name), std::move(its_explanation)) {}

  std::string name;         ///< with the unit of its cells: "wait ms"
  std::string explanation;  ///< empty for none
};

struct TextTable {
  std::string title{};
  std::vector<TableColumn> columns{};
  std::vector<std::vector<std::string>> rows{};  ///< each has one cell per column

  std::vector<std::string> column_names() const;
};

/// A fraction as a cell in percent: 0.25 → "25.0".
std::string percent_cell(double fraction);

/// The columns and rows as aligned lines, without the title. The first column and columns of words
/// are aligned to the left, the others to the right. With `colour`, the header is bold and the row
/// `emphasised`, counted from 0, is green.
std::string to_text(const TextTable& table, bool colour = false,
                    std::optional<std::size_t> emphasised = {});

/// {"title", "columns", "rows", "explain"}, where "explain" has the explained columns by name.
/// nlohmann::json finds this function when a table becomes JSON.
template <typename Json>
void to_json(Json& json, const TextTable& table) {
  Json explain = Json::object();
  for (const TableColumn& column : table.columns)
    if (!column.explanation.empty()) explain[column.name] = column.explanation;
  json = {{"title", table.title},
          {"columns", table.column_names()},
          {"rows", table.rows},
          {"explain", std::move(explain)}};
}

}  // namespace lockstep::internal
