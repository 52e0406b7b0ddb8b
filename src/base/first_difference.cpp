#include "base/first_difference.h"

#include "base/text.h"

#include <algorithm>
#include <cstddef>

namespace lockstep::internal {

namespace {

using Lists = std::vector<std::optional<std::vector<std::string>>>;

/// Each rank's text at line `number`; empty for ranks without a list.
std::vector<std::string> at_line(const Lists& by_rank, std::size_t number) {
  std::vector<std::string> found;
  for (const auto& lines : by_rank)
    found.push_back(!lines ? "" : number < lines->size() ? (*lines)[number] : "nothing more");
  return found;
}

bool all_the_same(const std::vector<std::string>& texts, const Lists& by_rank) {
  const std::string* first = nullptr;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (!by_rank[rank]) continue;
    if (first == nullptr) first = &texts[rank];
    if (texts[rank] != *first) return false;
  }
  return true;
}

}  // namespace

std::string first_difference(const Lists& lines_by_rank) {
  std::size_t most = 0;
  for (const auto& lines : lines_by_rank)
    if (lines) most = std::max(most, lines->size());
  for (std::size_t number = 0; number < most; ++number) {
    const std::vector<std::string> found = at_line(lines_by_rank, number);
    if (!all_the_same(found, lines_by_rank)) return by_rank(found, "had");
  }
  return "";
}

}  // namespace lockstep::internal
