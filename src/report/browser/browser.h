// Chromium, if it is installed, without a window: it runs the scripts of a page and prints it.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep::internal::report {

/// Throws UsageError, with what to install, unless Chromium or Chrome is in PATH.
void require_browser();

/// The page as HTML after its scripts have run. Throws Error if the browser fails.
std::string run_page(const std::string& html);

/// Prints a page to a PDF file. Throws Error if the browser fails, FileError if the file cannot be
/// written.
void print_page(const std::string& html, const std::filesystem::path& file);

}  // namespace lockstep::internal::report
