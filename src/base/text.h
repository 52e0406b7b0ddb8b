// Parsing and formatting of numbers and lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal {

/// "a, b and c".
std::string enumerate(const std::vector<std::string>& items);

/// The texts of all ranks, grouped by equal text, in the order of their first rank: "ranks 0 and 2
/// called barrier; rank 1 called split" for the verb "called". Ranks with an empty text are
/// skipped.
std::string by_rank(const std::vector<std::string>& texts, std::string_view verb);

/// The words quoted for a shell, where a word has characters other than letters, digits and a few
/// harmless ones.
std::string shell_quoted(const std::vector<std::string>& words);

/// The parts of `text` between separators; an empty text has none.
std::vector<std::string> split(std::string_view text, char separator);

/// A whole decimal number in [lowest, highest]. Throws UsageError, which names `what`.
std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t lowest,
                           std::int64_t highest);

/// "64K" → 65536; suffixes K, M, G are powers of 1024. Throws UsageError.
std::uint64_t parse_bytes(std::string_view text);

/// 65536 → "64K"; the inverse of parse_bytes for round numbers.
std::string format_bytes(std::uint64_t bytes);

}  // namespace lockstep::internal
