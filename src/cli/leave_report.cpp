#include "cli/leave_report.h"

#include "base/folder_lock.h"
#include "cli/output.h"
#include "report/report.h"
#include "report/tensorboard.h"

#include <cstdio>
#include <functional>

namespace lockstep::cli {

namespace {

bool is_anothers(const std::filesystem::path& folder) {
  try {
    const FolderLock lock(folder, "");
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

/// Says what kept `make` from making it.
void try_to_make(const char* what, const std::function<void()>& make) {
  try {
    make();
  } catch (const std::exception& problem) {
    std::fflush(stdout);
    put(stderr, "lockstep: there is no {}: {}\n", what, problem.what());
  }
}

}  // namespace

void leave_report(const std::filesystem::path& folder, bool print) {
  if (!report::has_runs(folder) || is_anothers(folder)) return;
  try_to_make("report", [&] {
    const std::filesystem::path file = report::write_report(folder);
    if (print) put(stdout, "report: {}\n", file.string());
  });
}

void leave_tensorboard(const std::filesystem::path& run, bool wanted) {
  if (!report::has_runs(run) || is_anothers(run)) return;
  try_to_make("event file for TensorBoard", [&] {
    if (wanted)
      report::write_tensorboard(run);
    else
      report::remove_tensorboard(run);
  });
}

}  // namespace lockstep::cli
