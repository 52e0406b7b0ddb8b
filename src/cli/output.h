// Printing where a lost reader must not change how a command ends.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace lockstep::cli {

/// Prints, and ignores output that cannot be written, because a terminal has hung up or a disk is
/// full: the results of a run are in its folder. fmt::print would throw.
template <typename... Arguments>
void put(std::FILE* out, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  std::fputs(fmt::format(text, std::forward<Arguments>(arguments)...).c_str(), out);
}

}  // namespace lockstep::cli
