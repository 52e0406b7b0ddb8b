#include "report/run.h"

#include <lockstep/error.h>

#include "base/folder_lock.h"

#include <fmt/format.h>

namespace lockstep::internal::report {

namespace {

namespace fs = std::filesystem;

/// A run holds a lock on its folder while it runs.
bool is_running(const fs::path& folder) {
  try {
    const FolderLock lock(folder, "");
    return false;
  } catch (const FileError&) {
    return true;
  }
}

std::string why_stopped(const fs::path& folder) {
  std::error_code error;
  if (is_running(folder)) return "the run is still running";
  if (fs::exists(folder / "checkpoints", error) && !fs::is_empty(folder / "checkpoints", error))
    return "the run was stopped or killed. The same command with --resume resumes it from its "
           "newest checkpoint";
  return "the run was stopped or killed and has no summary.json";
}

Stopped stopped_at(const fs::path& folder, const run::Fields& config, const Metrics& metrics) {
  Stopped stopped{.iteration = metrics.last_iteration, .why = why_stopped(folder)};
  if (const std::size_t planned = config.count("planned_iterations"); planned > 0)
    stopped.of = planned;
  return stopped;
}

}  // namespace

std::string Run::method() const {
  return workers() == 1 ? "alone" : config.text("method");
}

std::string Run::where_it_stopped() const {
  return stopped->of ? fmt::format("iteration {} of {}", stopped->iteration, *stopped->of)
                     : fmt::format("iteration {}", stopped->iteration);
}

Run read_run(const fs::path& folder, std::string name) {
  Run run{.name = std::move(name),
          .folder = "",
          .path = folder,
          .config = run::read_fields(folder / "config.json"),
          .summary = {},
          .metrics = {},
          .stopped = {}};
  if (fs::exists(folder / "metrics.jsonl")) run.metrics = read_metrics(folder / "metrics.jsonl");
  if (fs::exists(folder / "summary.json"))
    run.summary = run::read_fields(folder / "summary.json");
  else
    run.stopped = stopped_at(folder, run.config, run.metrics);
  return run;
}

}  // namespace lockstep::internal::report
