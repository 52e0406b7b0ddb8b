// The options of train::Control.
#pragma once

#include "train/control.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace lockstep::cli {

/// Binds them to `control`.
void add_control_options(CLI::App& command, train::Control& control);

/// The arguments that say the same.
std::vector<std::string> control_arguments(const train::Control& control);

}  // namespace lockstep::cli
