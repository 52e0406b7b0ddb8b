// Parses a text that is a number as a whole.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace lockstep::internal {

/// Empty unless the whole text is a number in T's range.
template <typename T>
std::optional<T> number_in(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace lockstep::internal
