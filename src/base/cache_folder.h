// The user's folder for data that can be regenerated.
#pragma once

#include <filesystem>

namespace lockstep::internal {

/// Lockstep's folder below $XDG_CACHE_HOME, or else below ~/.cache, whether or not it exists. Empty
/// if HOME is not set either.
std::filesystem::path cache_folder();

}  // namespace lockstep::internal
