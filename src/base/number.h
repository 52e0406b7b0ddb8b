// A number that is all of a text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace lockstep {

/// None if the text is anything else: empty, out of T's range, followed by something.
template <typename T>
std::optional<T> number_in(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace lockstep
