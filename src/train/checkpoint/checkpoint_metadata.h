// CheckpointMetadata: the metadata of a checkpoint, by name, in which policies keep their state.
#pragma once

#include "base/number.h"

#include <map>
#include <optional>
#include <string>

namespace lockstep::internal::train {

using CheckpointMetadata = std::map<std::string, std::string>;

/// The number of this name; none if there is none.
template <typename T>
std::optional<T> number_at(const CheckpointMetadata& metadata, const std::string& name) {
  const auto found = metadata.find(name);
  return found == metadata.end() ? std::nullopt : number_in<T>(found->second);
}

}  // namespace lockstep::internal::train
