// A table in plain text: columns as wide as their widest cell, words to the left, numbers to the
// right.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  /// REQUIRES: as many cells as the header has.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Makes a row stand out where there is colour; counted from 0, without the header.
  void emphasise(std::size_t row) { emphasised_ = row + 1; }

  /// The first column and those of words are aligned to the left, the others to the right. With
  /// `colour` the header is bold, and the emphasised row green.
  std::string text(bool colour = false) const;

 private:
  bool is_of_words(std::size_t column) const;
  std::string line_of(std::size_t row, const std::vector<std::size_t>& widths) const;

  std::size_t emphasised_ = 0;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lockstep::cli
