// The folder of the data sets that ship with Lockstep.
#pragma once

#include <filesystem>

namespace lockstep::internal::cli {

/// In the installation of the program, or in its source tree.
std::filesystem::path shipped_data();

}  // namespace lockstep::internal::cli
