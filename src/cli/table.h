// Table: a table in plain text. Words are aligned to the left, numbers to the right.
#pragma once

#include "run/text_table.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  /// REQUIRES: as many cells as the header has.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Highlights a row in coloured output. Rows are counted from 0, without the header.
  void emphasise(std::size_t row) { emphasised_ = row + 1; }

  /// The first column and columns of words are aligned to the left, the others to the right. With
  /// `colour`, the header is bold and the highlighted row is green.
  std::string text(bool colour = false) const;

 private:
  bool is_of_words(std::size_t column) const;
  std::string line_of(std::size_t row, const std::vector<std::size_t>& widths) const;

  std::size_t emphasised_ = 0;
  std::vector<std::vector<std::string>> rows_;
};

/// Prints a table to standard output, with an empty line before and after it. The row `emphasised`,
/// counted from 0, stands out.
void print_table(const run::TextTable& table, std::optional<std::size_t> emphasised = {});

}  // namespace lockstep::internal::cli
