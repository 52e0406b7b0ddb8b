// Writes the report and the event files for TensorBoard into the folder of a finished command. An
// error is printed to standard error and does not fail the command. Nothing is written if the
// folder has no run, or if another run is writing to it.
#pragma once

#include <filesystem>

namespace lockstep::internal::cli {

/// Writes report.html into the folder. With `print`, prints its path.
void leave_report(const std::filesystem::path& folder, bool print);

/// Writes the event files of a run if they are `wanted`. Removes those of an earlier run in any
/// case.
void leave_tensorboard(const std::filesystem::path& run, bool wanted);

}  // namespace lockstep::internal::cli
