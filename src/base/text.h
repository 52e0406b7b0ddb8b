// Numbers and lists as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// "a, b and c".
std::string enumerate(const std::vector<std::string>& items);

/// What each rank has to say, ranks that say the same together, in the order of their first rank:
/// "rank 0 and 2 called barrier; rank 1 called split" for the verb "called". Ranks with an empty
/// text have nothing to say.
std::string by_rank(const std::vector<std::string>& texts, std::string_view verb);

/// The words as a shell reads them back: quoted where one has more than letters, digits and a few
/// harmless signs.
std::string shell_quoted(const std::vector<std::string>& words);

/// The parts of `text` between separators; an empty text has no parts.
std::vector<std::string> split(std::string_view text, char separator);

/// A whole decimal number in [lowest, highest]. Throws UsageError that names `what`.
std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t lowest,
                           std::int64_t highest);

/// "64K" → 65536; suffixes K, M, G are powers of 1024. Throws UsageError.
std::uint64_t parse_bytes(std::string_view text);

/// 65536 → "64K"; the reverse of parse_bytes where the number is round.
std::string format_bytes(std::uint64_t bytes);

}  // namespace lockstep
