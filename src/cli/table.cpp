#include "cli/table.h"

#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lockstep::internal::cli {

namespace {

/// Number of UTF-8 characters: continuation bytes do not count.
std::size_t width_of(const std::string& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

}  // namespace

bool Table::is_of_words(std::size_t column) const {
  return std::all_of(rows_.begin() + 1, rows_.end(), [column](const auto& row) {
    return !row[column].empty() && std::isalpha(static_cast<unsigned char>(row[column][0])) != 0;
  });
}

std::string Table::line_of(std::size_t row, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t column = 0; column < widths.size(); ++column) {
    const std::string& cell = rows_[row][column];
    const std::string padding(widths[column] - width_of(cell), ' ');
    if (column > 0) line += "  ";
    line += column == 0 || is_of_words(column) ? cell + padding : padding + cell;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string Table::text(bool colour) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], width_of(row[column]));

  std::string text;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const char* style = row == 0 ? "\033[1m" : row == emphasised_ ? "\033[32m" : "";
    const std::string line = line_of(row, widths);
    text += colour && *style != 0 ? style + line + "\033[0m\n" : line + "\n";
  }
  return text;
}

void print_table(const run::TextTable& table, std::optional<std::size_t> emphasised) {
  Table text(table.columns);
  for (const auto& row : table.rows) text.add(row);
  if (emphasised) text.emphasise(*emphasised);
  fmt::print("\n{}\n", text.text(on_terminal()));
}

}  // namespace lockstep::internal::cli
