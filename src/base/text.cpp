#include "base/text.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lockstep::internal {

std::string enumerate(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

std::string by_rank(const std::vector<std::string>& texts, std::string_view verb) {
  std::vector<std::string> said;
  std::vector<std::vector<std::string>> speakers;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    auto known = std::find(said.begin(), said.end(), texts[rank]);
    if (known == said.end()) {
      known = said.insert(said.end(), texts[rank]);
      speakers.emplace_back();
    }
    speakers[static_cast<std::size_t>(known - said.begin())].push_back(std::to_string(rank));
  }
  std::string text;
  for (std::size_t i = 0; i < said.size(); ++i)
    text += fmt::format("{}rank{} {} {} {}", i > 0 ? "; " : "", speakers[i].size() == 1 ? "" : "s",
                        enumerate(speakers[i]), verb, said[i]);
  return text;
}

std::string shell_quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool harmless = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-_./,:=+@%").find(c) != std::string_view::npos;
    });
    if (!text.empty()) text += ' ';
    if (harmless) {
      text += word;
      continue;
    }
    text += '\'';
    for (char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.emplace_back();
  }
  return parts;
}

std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t lowest,
                           std::int64_t highest) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest)
    throw UsageError(fmt::format("{} is '{}': it must be a whole number from {} to {}", what, text,
                                 lowest, highest));
  return value;
}

std::uint64_t parse_bytes(std::string_view text) {
  constexpr std::string_view kSuffixes = "KMG";
  std::string_view digits = text;
  unsigned shift = 0;
  if (!digits.empty()) {
    std::size_t suffix = kSuffixes.find(digits.back());
    if (suffix != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(suffix) + 1);
      digits.remove_suffix(1);
    }
  }
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
      value > (1ull << 40) >> shift)
    throw UsageError(
        fmt::format("'{}' is not a size: write a number of bytes such as 4096, 64K or 36M", text));
  return value << shift;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::string_view kSuffixes = "KMG";
  int unit = -1;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit < 2) {
    bytes /= 1024;
    ++unit;
  }
  return unit < 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, kSuffixes[unit]);
}

}  // namespace lockstep::internal
