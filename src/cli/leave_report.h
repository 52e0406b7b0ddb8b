// The report that a command leaves in the folder that it has written.
#pragma once

#include <filesystem>

namespace lockstep::cli {

/// Writes the folder's report.html and prints where it is, if `print`. A report that cannot be made
/// costs no run: that is only said, on standard error. Where no run was begun, or another one is
/// being recorded by now, there is nothing to report.
void leave_report(const std::filesystem::path& folder, bool print);

}  // namespace lockstep::cli
