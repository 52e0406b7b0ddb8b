#include "sync/same_on_all.h"

#include <lockstep/error.h>

#include "base/first_difference.h"
#include "base/hash/sha256.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lockstep::internal::sync {

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

bool same(Group& group, const std::string& text) {
  const Bytes mine = bytes_of(digest_of(text));
  Bytes all(mine.size() * static_cast<std::size_t>(group.size()));
  group.all_gather(mine, all);
  // Every rank compares all lines, so all ranks find the same difference.
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != all[i % mine.size()]) return false;
  return true;
}

}  // namespace

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

std::string difference_between_ranks(Group& group, const std::vector<std::string>& lines) {
  const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  if (same(group, text)) return "";
  std::vector<std::optional<std::vector<std::string>>> all;
  for (const std::string& theirs : gather_texts(group, text)) all.emplace_back(split(theirs, '\n'));
  return first_difference(all);
}

void require_same_on_all(Group& group, const std::vector<std::string>& lines, std::string_view what,
                         std::string_view remedy) {
  const std::string difference = difference_between_ranks(group, lines);
  if (!difference.empty())
    throw MismatchError(fmt::format("{}; the first difference: {}. {}", what, difference, remedy));
}

}  // namespace lockstep::internal::sync
