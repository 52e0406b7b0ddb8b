#include "base/table/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lockstep::internal {

namespace {

using TableCells = std::vector<std::string>;

struct TableLayout {
  std::vector<std::size_t> widths;  ///< in characters
  std::vector<bool> to_left;
};

/// Number of UTF-8 characters: continuation bytes do not count.
std::size_t width_of(const std::string& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

bool is_of_words(const TextTable& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [column](const TableCells& row) {
    return !row[column].empty() && std::isalpha(static_cast<unsigned char>(row[column][0])) != 0;
  });
}

TableLayout layout_of(const TextTable& table) {
  TableLayout layout;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t width = width_of(table.columns[column].name);
    for (const TableCells& row : table.rows) width = std::max(width, width_of(row[column]));
    layout.widths.push_back(width);
    layout.to_left.push_back(column == 0 || is_of_words(table, column));
  }
  return layout;
}

std::string line_of(const TableCells& cells, const TableLayout& layout) {
  std::string line;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const std::string& cell = cells[column];
    const std::string padding(layout.widths[column] - width_of(cell), ' ');
    if (column > 0) line += "  ";
    line += layout.to_left[column] ? cell + padding : padding + cell;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

}  // namespace

std::vector<std::string> TextTable::column_names() const {
  std::vector<std::string> names;
  for (const TableColumn& column : columns) names.push_back(column.name);
  return names;
}

std::string percent_cell(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

std::string to_text(const TextTable& table, bool colour, std::optional<std::size_t> emphasised) {
  const TableLayout layout = layout_of(table);
  const auto styled = [colour](const std::string& line, const char* style) {
    return colour ? style + line + "\033[0m\n" : line + "\n";
  };
  std::string text = styled(line_of(table.column_names(), layout), "\033[1m");
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string line = line_of(table.rows[row], layout);
    text += row == emphasised ? styled(line, "\033[32m") : line + "\n";
  }
  return text;
}

}  // namespace lockstep::internal
