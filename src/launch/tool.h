// Running a small program of the system to its end, without a shell.
#pragma once

#include <string>
#include <vector>

namespace lockstep::launch {

/// Throws UsageError that names the package unless the program is installed.
void require_tool(const std::string& name, const std::string& package);

/// Runs it, by its name or its path; its output goes nowhere. Throws Error with the command and
/// what it complained of if it fails or cannot be started.
void run_tool(const std::vector<std::string>& command);

}  // namespace lockstep::launch
