// Runs a system tool to its end, without a shell.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// The tool's path; empty if it is not installed. Administrators' folders are searched even if they
/// are not in the user's PATH.
std::string find_tool(const std::string& name);

/// Throws UsageError, which names the package, unless the program is installed.
void require_tool(const std::string& name, const std::string& package);

/// Runs a program, by its name or its path, and discards its output. Throws Error with the command
/// and its error output if it fails or cannot be started.
void run_tool(const std::vector<std::string>& command);

/// Runs a program that may start others, with these environment variables besides this process's,
/// and returns its output. On return all of them have ended, also if they took longer than
/// `timeout` or a signal asked this process to end. Throws Error in these cases, and with the end
/// of the error output if the program fails.
std::string read_tool(const std::vector<std::string>& command,
                      const std::map<std::string, std::string>& variables,
                      std::chrono::milliseconds timeout);

}  // namespace lockstep::internal::launch
