// Tables as text for other programs: CSV and Markdown. A cell has one number, and the header has
// its unit.
#pragma once

#include "base/table/text_table.h"

#include <string>
#include <string_view>

namespace lockstep::internal {

/// The table with at most one number in a cell:
///
/// | column with its cells | becomes |
/// | --- | --- |
/// | "32 per worker": "0.250 s, 4.00×" | "32 per worker s": "0.250", "32 per worker ×": "4.00" |
/// | "comm s (16 / 32)": "0.1 / 0.2" | "comm s (16)": "0.1", "comm s (32)": "0.2" |
/// | "workers": "4", "8*" | "workers": "4", "8"; "workers mark": "", "*" |
/// | "weights": "equal", "4e-07 off" | "weights": "equal", "4e-07" |
/// | a cell "–", "-" or "n/a" | an empty cell |
///
/// A column whose cells have no common pattern keeps its text. So does the first one, which names
/// the rows, apart from marks.
TextTable one_number_per_cell(const TextTable& table);

/// The table with one number per cell, as in RFC 4180: a header, and a line per row.
std::string to_csv(const TextTable& table);

/// The text on one line, escaped so that Markdown shows it unchanged.
std::string markdown_text(std::string_view text);

/// The table with one number per cell, below a heading, and a list of its explanations.
std::string to_markdown(const TextTable& table);

}  // namespace lockstep::internal
