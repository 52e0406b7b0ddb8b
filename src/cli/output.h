// Printing that never fails: lost output must not change the exit code of a command.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace lockstep::internal::cli {

/// Prints, and ignores errors such as a closed terminal or a full disk: the results of a run are in
/// its folder. fmt::print would throw.
template <typename... Arguments>
void put(std::FILE* out, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  std::fputs(fmt::format(text, std::forward<Arguments>(arguments)...).c_str(), out);
}

}  // namespace lockstep::internal::cli
