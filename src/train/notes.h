// Notes: numbers that a checkpoint's metadata keep by name, for those who decide between epochs.
#pragma once

#include "base/number.h"

#include <map>
#include <optional>
#include <string>

namespace lockstep::train {

using Notes = std::map<std::string, std::string>;

/// None if there is no such note, or something else than a number.
template <typename T>
std::optional<T> number_at(const Notes& notes, const std::string& name) {
  const auto found = notes.find(name);
  return found == notes.end() ? std::nullopt : number_in<T>(found->second);
}

}  // namespace lockstep::train
