// What a command leaves for people in the folder that it has written: a report, and event files for
// TensorBoard. What cannot be made costs no run: that is only said, on standard error. Where no run
// was begun, or another one is being recorded by now, nothing is left.
#pragma once

#include <filesystem>

namespace lockstep::cli {

/// Writes the folder's report.html and prints where it is, if `print`.
void leave_report(const std::filesystem::path& folder, bool print);

/// Writes a run's event files, if they are `wanted`; those of an earlier run in the folder go
/// anyway.
void leave_tensorboard(const std::filesystem::path& run, bool wanted);

}  // namespace lockstep::cli
