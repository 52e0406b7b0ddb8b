// Where programs of this user keep what can be made again.
#pragma once

#include <filesystem>

namespace lockstep {

/// Lockstep's own folder there, whether or not it exists: below $XDG_CACHE_HOME, else below
/// ~/.cache. Empty where there is no HOME either.
std::filesystem::path cache_folder();

}  // namespace lockstep
