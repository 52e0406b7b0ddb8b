// docs/options.md: the options of all commands that have a table of them, as Markdown.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep::internal::cli {

/// Adds a hidden flag, --options-page, that prints the page and ends the program.
void add_options_page_flag(CLI::App& command);

}  // namespace lockstep::internal::cli
