#include "sync/same_on_all.h"

#include <lockstep/error.h>

#include "base/sha256.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::sync {

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string digest_of(const std::string& text) {
  Sha256 sha;
  sha.update(text.data(), text.size());
  return sha.hex();
}

/// All ranks' texts, which may differ in length.
std::vector<std::string> gather_texts(Group& group, const std::string& mine) {
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<std::int64_t> length{static_cast<std::int64_t>(mine.size())};
  std::vector<std::int64_t> lengths(ranks);
  group.all_gather(length, lengths);
  const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  Bytes padded = bytes_of(mine);
  padded.resize(longest);
  Bytes all(longest * ranks);
  group.all_gather(padded, all);
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * longest);
    texts.emplace_back(begin, begin + lengths[rank]);
  }
  return texts;
}

bool same(Group& group, const std::string& text) {
  const Bytes mine = bytes_of(digest_of(text));
  Bytes all(mine.size() * static_cast<std::size_t>(group.size()));
  group.all_gather(mine, all);
  // Every rank is asked about all, so all come to the same end.
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != all[i % mine.size()]) return false;
  return true;
}

/// What each rank has at line `number`.
std::vector<std::string> at_line(const std::vector<std::vector<std::string>>& by_rank,
                                 std::size_t number) {
  std::vector<std::string> found;
  for (const auto& lines : by_rank)
    found.push_back(number < lines.size() ? lines[number] : "nothing more");
  return found;
}

}  // namespace

void require_same_on_all(Group& group, const std::vector<std::string>& lines, std::string_view what,
                         std::string_view remedy) {
  const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  if (same(group, text)) return;
  std::vector<std::vector<std::string>> all;
  std::size_t most = 0;
  for (const std::string& theirs : gather_texts(group, text)) {
    all.push_back(split(theirs, '\n'));
    most = std::max(most, all.back().size());
  }
  for (std::size_t number = 0; number < most; ++number) {
    const std::vector<std::string> found = at_line(all, number);
    if (std::all_of(found.begin(), found.end(), [&](const auto& a) { return a == found[0]; }))
      continue;
    throw MismatchError(
        fmt::format("{}, first in this: {}. {}", what, by_rank(found, "came with"), remedy));
  }
}

}  // namespace lockstep::sync
