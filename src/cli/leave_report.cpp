#include "cli/leave_report.h"

#include "base/folder_lock.h"
#include "cli/output.h"
#include "report/report.h"
#include "report/tensorboard.h"

#include <cstdio>
#include <functional>

namespace lockstep::internal::cli {

namespace {

/// Calls `write`, and prints an error if it throws.
void try_to_write(const char* what, const std::function<void()>& write) {
  try {
    write();
  } catch (const std::exception& problem) {
    std::fflush(stdout);
    put(stderr, "lockstep: could not write the {}: {}\n", what, problem.what());
  }
}

}  // namespace

void leave_report(const std::filesystem::path& folder, bool print) {
  if (!report::has_runs(folder) || FolderLock::is_held(folder)) return;
  try_to_write("report", [&] {
    const std::filesystem::path file = report::write_report(folder);
    if (print) put(stdout, "report: {}\n", file.string());
  });
}

void leave_tensorboard(const std::filesystem::path& run, bool wanted) {
  if (!report::has_runs(run) || FolderLock::is_held(run)) return;
  try_to_write("event files for TensorBoard", [&] {
    if (wanted)
      report::write_tensorboard(run);
    else
      report::remove_tensorboard(run);
  });
}

}  // namespace lockstep::internal::cli
