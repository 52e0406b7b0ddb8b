#include "report/source.h"

#include <lockstep/error.h>

#include "run/run_folder.h"
#include "run/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::internal::report {

namespace {

namespace fs = std::filesystem;

std::string name_of(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.empty() ? "run" : name.string();
}

/// A run whose folder is missing, from its entry in the study's summary.
Run run_without_folder(const run::Fields& summary, const fs::path& path) {
  nlohmann::json config = summary.json();
  config.erase("ranks");
  config["batch"] = summary.number("global_batch").value_or(0);
  return {.name = "",
          .folder = "",
          .path = path,
          .config = run::Fields(std::move(config), summary.source()),
          .summary = {},
          .metrics = {},
          .stopped = {}};
}

Source read_study(const fs::path& folder, const MetricsReader& metrics) {
  run::StudyRecord study = run::read_study(folder);
  Source source{.kind = study.kind,
                .runs = {},
                .study = study.fields,
                .tables = std::move(study.tables),
                .notes = {}};
  for (const run::StudiedRun& studied : study.runs) {
    const fs::path path = folder / fs::path(studied.folder).lexically_normal();
    const bool there = run::is_run_folder(path);
    Run run =
        there ? read_run(path, studied.name, metrics) : run_without_folder(studied.summary, path);
    run.name = studied.name;
    run.folder = studied.folder;
    run.summary = studied.summary;
    run.stopped.reset();
    if (!there)
      source.notes.push_back(
          fmt::format("{}: its folder {} is missing, so it has no curves.", run.name, run.folder));
    source.runs.push_back(std::move(run));
  }
  return source;
}

std::vector<fs::path> run_folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (run::is_run_folder(entry.path())) folders.push_back(entry.path());
  // Ordered by the start of the runs.
  std::sort(folders.begin(), folders.end(), [](const fs::path& a, const fs::path& b) {
    const auto begun = [](const fs::path& run) { return fs::last_write_time(run / "config.json"); };
    return begun(a) != begun(b) ? begun(a) < begun(b) : a < b;
  });
  return folders;
}

Source read_several_in(const fs::path& folder, const MetricsReader& metrics) {
  const std::vector<fs::path> folders = run_folders_in(folder);
  if (folders.empty())
    throw FileError(fmt::format(
        "{}: not a run folder: it has neither config.json nor summary.json. Give a folder that "
        "train, compare or scale has written, such as runs/train-…",
        folder.string()));
  if (folders.size() > run::kMostRuns)
    throw FileError(
        fmt::format("{}: has {} runs, but a page can show at most {}: give the folders "
                    "of some of them",
                    folder.string(), folders.size(), run::kMostRuns));
  Source source{.kind = "side-by-side", .runs = {}, .study = {}, .tables = {}, .notes = {}};
  for (const fs::path& run : folders) {
    source.runs.push_back(read_run(run, run.filename().string(), metrics));
    source.runs.back().folder = run.filename().string();
  }
  source.notes.push_back(fmt::format(
      "{} has no summary.json: it is an interrupted study or a folder of several runs. The runs "
      "are shown side by side.",
      name_of(folder)));
  return source;
}

Source read_one(const fs::path& folder, const MetricsReader& metrics) {
  if (!fs::is_directory(folder))
    throw FileError(fmt::format("{}: there is no such folder", folder.string()));
  if (run::is_run_folder(folder)) {
    Source source{.kind = "train", .runs = {}, .study = {}, .tables = {}, .notes = {}};
    Run run = read_run(folder, name_of(folder), metrics);
    run.folder = ".";
    source.runs.push_back(std::move(run));
    return source;
  }
  if (run::is_study_folder(folder)) return read_study(folder, metrics);
  return read_several_in(folder, metrics);
}

/// "run", "run (2)", "run (3)".
std::string unique(const std::string& name, std::set<std::string>& taken) {
  std::string result = name;
  for (int i = 2; !taken.insert(result).second; ++i) result = fmt::format("{} ({})", name, i);
  return result;
}

}  // namespace

Source read_source(const std::vector<fs::path>& folders, const MetricsReader& metrics) {
  Source all =
      folders.size() == 1
          ? read_one(folders[0], metrics)
          : Source{.kind = "side-by-side", .runs = {}, .study = {}, .tables = {}, .notes = {}};
  for (const fs::path& folder : folders) {
    if (folders.size() == 1) break;
    Source one = read_one(folder, metrics);
    for (Run& run : one.runs) {
      if (one.kind != "train") run.name = fmt::format("{}/{}", name_of(folder), run.name);
      run.folder = run.path.string();
      all.runs.push_back(std::move(run));
    }
    all.notes.insert(all.notes.end(), one.notes.begin(), one.notes.end());
  }
  if (all.kind == "train") all.runs.front().name = all.runs.front().method();
  std::set<std::string> taken;
  for (Run& run : all.runs) run.name = unique(run.name, taken);
  return all;
}

}  // namespace lockstep::internal::report
