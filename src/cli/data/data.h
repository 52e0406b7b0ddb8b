// The subcommands of `lockstep data`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep::internal::cli {

/// Each adds its subcommand to `data`. `code` is set to the exit code when it has run.
void add_data_fetch_command(CLI::App& data, int& code);
void add_data_info_command(CLI::App& data, int& code);

}  // namespace lockstep::internal::cli
