#include "report/run.h"

#include <lockstep/error.h>

#include "base/folder_lock.h"

#include <fmt/format.h>

namespace lockstep::report {

namespace {

namespace fs = std::filesystem;

bool still_going(const fs::path& folder) {
  try {
    const FolderLock lock(folder, "");
    return false;
  } catch (const FileError&) {
    return true;
  }
}

std::string why_stopped(const fs::path& folder) {
  std::error_code error;
  if (still_going(folder)) return "it is still going";
  if (fs::exists(folder / "checkpoints", error) && !fs::is_empty(folder / "checkpoints", error))
    return "it was stopped or killed; the same command with --resume goes on from its newest "
           "checkpoint";
  return "it was stopped or killed, and left no summary.json";
}

Stopped stopped_at(const fs::path& folder, const Fields& config, const Metrics& metrics) {
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

bool is_run_folder(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / "config.json", none);
}

Run read_run(const fs::path& folder, std::string name) {
  Run run{.name = std::move(name),
          .folder = "",
          .path = folder,
          .config = read_fields(folder / "config.json"),
          .summary = {},
          .metrics = {},
          .stopped = {}};
  if (fs::exists(folder / "metrics.jsonl")) run.metrics = read_metrics(folder / "metrics.jsonl");
  if (fs::exists(folder / "summary.json"))
    run.summary = read_fields(folder / "summary.json");
  else
    run.stopped = stopped_at(folder, run.config, run.metrics);
  return run;
}

}  // namespace lockstep::report
