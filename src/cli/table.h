// A table in plain text: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  /// REQUIRES: as many cells as the header has.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// The first column is aligned to the left, the others to the right. `bold` makes the header
  /// bold.
  std::string text(bool bold = false) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lockstep::cli
