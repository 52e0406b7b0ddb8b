#include "cli/table.h"

#include <algorithm>

namespace lockstep::cli {

namespace {

/// Characters, not bytes: those that continue a UTF-8 character do not count.
std::size_t width_of(const std::string& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

}  // namespace

std::string Table::text(bool bold) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], width_of(row[column]));

  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t column = 0; column < rows_[r].size(); ++column) {
      const std::string& cell = rows_[r][column];
      const std::string padding(widths[column] - width_of(cell), ' ');
      line += column == 0 ? cell + padding : "  " + padding + cell;
    }
    text += bold && r == 0 ? "\033[1m" + line + "\033[0m\n" : line + "\n";
  }
  return text;
}

}  // namespace lockstep::cli
