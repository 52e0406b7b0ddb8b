// Where the data that ship with Lockstep are.
#pragma once

#include <filesystem>

namespace lockstep::cli {

/// Beside the installed program, or in its source tree.
std::filesystem::path shipped_data();

}  // namespace lockstep::cli
