// Runs a system tool to its end, without a shell.
#pragma once

#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// Throws UsageError, which names the package, unless the program is installed.
void require_tool(const std::string& name, const std::string& package);

/// Runs a program, by its name or its path, and discards its output. Throws Error with the command
/// and its error output if it fails or cannot be started.
void run_tool(const std::vector<std::string>& command);

}  // namespace lockstep::internal::launch
