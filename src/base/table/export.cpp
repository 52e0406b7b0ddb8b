#include "base/table/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

namespace lockstep::internal {

namespace {

using Texts = std::vector<std::string>;

struct ExportColumn {
  TableColumn head;
  Texts cells{};
};
using ExportColumns = std::vector<ExportColumn>;

/// Both are empty for a missing value.
struct Quantity {
  std::string number;
  std::string unit;
};

bool is_missing(std::string_view cell) {
  return cell.empty() || cell == "–" || cell == "-" || cell == "n/a";
}

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

bool is_word(std::string_view cell) {
  return !is_missing(cell) && std::none_of(cell.begin(), cell.end(), is_digit);
}

/// Splits "0.250 s" into "0.250" and "s". A unit is a word after a space, or a sign. Empty for text
/// that is no number with a unit.
std::optional<Quantity> quantity_of(std::string_view text) {
  if (is_missing(text)) return Quantity{};
  const std::size_t sign = text.front() == '-' || text.front() == '+' ? 1 : 0;
  if (text.size() == sign || !is_digit(text[sign])) return std::nullopt;
  double number = 0;
  const char* end = text.data() + text.size();
  const char* rest = std::from_chars(text.data() + sign, end, number).ptr;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const bool is_sign = unit.empty() || unit == "*" || unit == "%" || unit == "×";
  if (!is_sign && (unit.size() < 2 || unit.front() != ' ')) return std::nullopt;
  if (!is_sign) unit.remove_prefix(1);
  if (std::any_of(unit.begin(), unit.end(), is_digit) || unit.find(' ') != unit.npos)
    return std::nullopt;
  return Quantity{std::string(text.data(), rest), std::string(unit)};
}

Texts split_at(std::string_view text, std::string_view separator) {
  Texts parts;
  for (std::size_t found; (found = text.find(separator)) != text.npos;) {
    parts.emplace_back(text.substr(0, found));
    text.remove_prefix(found + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

/// "8*" becomes a number and a mark.
std::optional<ExportColumns> split_marks(const ExportColumn& column) {
  ExportColumn numbers{column.head}, marks{column.head};
  marks.head.name += " mark";
  for (const std::string& cell : column.cells) {
    const auto its = quantity_of(cell);
    if (!its || (!its->unit.empty() && its->unit != "*")) return std::nullopt;
    numbers.cells.push_back(its->number);
    marks.cells.push_back(its->unit);
  }
  if (std::count(marks.cells.begin(), marks.cells.end(), "*") == 0) return std::nullopt;
  return ExportColumns{std::move(numbers), std::move(marks)};
}

/// Columns for the items of a head like "comm s (16 / 32)".
std::optional<ExportColumns> split_by_head(const ExportColumn& column) {
  const std::string& name = column.head.name;
  const std::size_t open = name.rfind(" (");
  if (open == name.npos || !name.ends_with(')')) return std::nullopt;
  const Texts items = split_at(name.substr(open + 2, name.size() - open - 3), " / ");
  if (items.size() < 2) return std::nullopt;
  ExportColumns columns;
  for (const std::string& item : items)
    columns.push_back(
        {{fmt::format("{} ({})", name.substr(0, open), item), column.head.explanation}});
  for (const std::string& cell : column.cells) {
    Texts parts = is_missing(cell) ? Texts(items.size()) : split_at(cell, " / ");
    if (parts.size() != items.size()) return std::nullopt;
    for (std::size_t i = 0; i < items.size(); ++i) columns[i].cells.push_back(std::move(parts[i]));
  }
  return columns;
}

/// The units that all cells with numbers have: {"s", "×"} of "0.250 s, 4.00×". Empty if they
/// differ.
Texts common_units(const Texts& cells) {
  Texts common;
  for (const std::string& cell : cells) {
    if (is_missing(cell) || is_word(cell)) continue;
    Texts units;
    for (const std::string& part : split_at(cell, ", ")) {
      const auto its = quantity_of(part);
      if (!its || its->unit.empty()) return {};
      units.push_back(its->unit);
    }
    if (!common.empty() && units != common) return {};
    common = std::move(units);
  }
  const bool distinct = std::set(common.begin(), common.end()).size() == common.size();
  return distinct ? common : Texts{};
}

/// Numbers among words lose their unit: "equal", "4e-07 off".
ExportColumn without_units(const ExportColumn& column) {
  ExportColumn plain{column.head};
  for (const std::string& cell : column.cells) {
    const auto its = quantity_of(cell);
    plain.cells.push_back(its ? its->number : cell);
  }
  return plain;
}

/// A column for each unit of the cells.
std::optional<ExportColumns> split_by_unit(const ExportColumn& column) {
  const Texts units = common_units(column.cells);
  if (units.empty()) return std::nullopt;
  if (units.size() == 1 && std::any_of(column.cells.begin(), column.cells.end(), is_word))
    return ExportColumns{without_units(column)};
  ExportColumns columns;
  for (const std::string& unit : units)
    columns.push_back({{fmt::format("{} {}", column.head.name, unit), column.head.explanation}});
  for (const std::string& cell : column.cells) {
    const Texts parts = is_missing(cell) ? Texts(units.size()) : split_at(cell, ", ");
    if (parts.size() != units.size()) return std::nullopt;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const auto its = quantity_of(parts[i]);
      if (!its) return std::nullopt;
      columns[i].cells.push_back(its->number);
    }
  }
  return columns;
}

ExportColumns split_column(const ExportColumn& column, bool names_rows) {
  if (auto split = split_marks(column)) return *split;
  if (names_rows) return {column};
  if (auto split = split_by_head(column)) return *split;
  if (auto split = split_by_unit(column)) return *split;
  return {column};
}

std::string csv_line(const Texts& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    if (cell.find_first_of(",\"\r\n") == cell.npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (char character : cell) line += character == '"' ? "\"\"" : std::string(1, character);
    line += '"';
  }
  return line + "\r\n";
}

std::string markdown_line(const Texts& cells) {
  std::string line = "|";
  for (const std::string& cell : cells)
    line += cell.empty() ? " |" : fmt::format(" {} |", markdown_text(cell));
  return line + "\n";
}

/// The line below the header, which aligns columns of numbers to the right.
std::string markdown_alignment(const TextTable& table) {
  std::string line = "|";
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const bool numbers = std::all_of(table.rows.begin(), table.rows.end(), [=](const Texts& row) {
      return quantity_of(row[column]).has_value();
    });
    line += numbers && column > 0 ? " ---: |" : " --- |";
  }
  return line + "\n";
}

}  // namespace

TextTable one_number_per_cell(const TextTable& table) {
  TextTable clean{.title = table.title, .rows = std::vector<Texts>(table.rows.size())};
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    ExportColumn column{table.columns[at]};
    for (const Texts& row : table.rows) column.cells.push_back(row[at]);
    for (ExportColumn& part : split_column(column, at == 0)) {
      clean.columns.push_back(std::move(part.head));
      for (std::size_t row = 0; row < clean.rows.size(); ++row)
        clean.rows[row].push_back(is_missing(part.cells[row]) ? "" : std::move(part.cells[row]));
    }
  }
  return clean;
}

std::string markdown_text(std::string_view text) {
  std::string escaped;
  for (char character : text) {
    if (character == '\n' || character == '\r') character = ' ';
    if (std::string_view("\\|<*`[&_~").find(character) != std::string_view::npos) escaped += '\\';
    escaped += character;
  }
  return escaped;
}

std::string to_csv(const TextTable& table) {
  const TextTable clean = one_number_per_cell(table);
  std::string text = csv_line(clean.column_names());
  for (const Texts& row : clean.rows) text += csv_line(row);
  return text;
}

std::string to_markdown(const TextTable& table) {
  const TextTable clean = one_number_per_cell(table);
  std::string text = fmt::format("## {}\n\n{}{}", markdown_text(clean.title),
                                 markdown_line(clean.column_names()), markdown_alignment(clean));
  for (const Texts& row : clean.rows) text += markdown_line(row);
  std::string explanations;
  for (const TableColumn& column : clean.columns)
    if (!column.explanation.empty())
      explanations +=
          fmt::format("- {}: {}\n", markdown_text(column.name), markdown_text(column.explanation));
  return explanations.empty() ? text : text + "\n" + explanations;
}

}  // namespace lockstep::internal
