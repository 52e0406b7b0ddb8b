#include "cli/leave_report.h"

#include "base/folder_lock.h"
#include "report/report.h"

#include <fmt/format.h>

#include <cstdio>

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

}  // namespace

void leave_report(const std::filesystem::path& folder, bool print) {
  if (!report::has_runs(folder) || is_anothers(folder)) return;
  try {
    const std::filesystem::path file = report::write_report(folder);
    if (print) fmt::print("report: {}\n", file.string());
  } catch (const std::exception& problem) {
    std::fflush(stdout);
    fmt::print(stderr, "lockstep: there is no report: {}\n", problem.what());
  }
}

}  // namespace lockstep::cli
