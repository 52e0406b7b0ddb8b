#include "report/run.h"

#include <lockstep/error.h>

#include "base/folder_lock.h"
#include "run/continuing.h"
#include "run/post_mortem_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

namespace lockstep::internal::report {

namespace {

namespace fs = std::filesystem;

/// The lines of the post-mortem as sentences; empty if there is none that can be read.
std::string post_mortem_of(const fs::path& folder) {
  const fs::path file = folder / run::kPostMortemFile;
  if (!fs::exists(file)) return {};
  try {
    std::vector<std::string> lines = run::read_post_mortem_file(file).verdict;
    for (std::string& line : lines)
      if (!line.empty()) line[0] = static_cast<char>(std::toupper(line[0]));
    return lines.empty() ? "" : fmt::format("{}.", fmt::join(lines, ". "));
  } catch (const FileError&) {  // the page says that there is no post-mortem
    return {};
  }
}

Stopped stopped_at(const fs::path& folder, const run::Fields& config, const Metrics& metrics) {
  Stopped stopped{
      .iteration = metrics.last_iteration, .why = "The run is still running.", .how = ""};
  if (!FolderLock::is_held(folder)) {
    const std::string post_mortem = post_mortem_of(folder);
    stopped.why = post_mortem.empty() ? "The run was stopped or killed." : post_mortem;
    stopped.how = run::how_to_continue(folder, !post_mortem.empty());
  }
  if (const std::size_t planned = config.count("planned_iterations"); planned > 0)
    stopped.of = planned;
  return stopped;
}

}  // namespace

std::string Run::method() const {
  return workers() == 1 ? "alone" : config.text("method");
}

std::string Run::on_its_end() const {
  const std::string of = stopped->of ? fmt::format(" of {}", *stopped->of) : "";
  return fmt::format("{} It is recorded up to iteration {}{}.", stopped->why, stopped->iteration,
                     of);
}

Run read_run(const fs::path& folder, std::string name, const MetricsReader& metrics) {
  Run run{.name = std::move(name),
          .folder = "",
          .path = folder,
          .config = run::read_fields(folder / "config.json"),
          .summary = {},
          .metrics = {},
          .stopped = {}};
  if (fs::exists(folder / "metrics.jsonl")) run.metrics = metrics(folder / "metrics.jsonl");
  if (fs::exists(folder / "summary.json"))
    run.summary = run::read_fields(folder / "summary.json");
  else
    run.stopped = stopped_at(folder, run.config, run.metrics);
  return run;
}

}  // namespace lockstep::internal::report
