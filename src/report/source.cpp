#include "report/source.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::report {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRuns = 200;

std::string name_of(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.empty() ? "run" : name.string();
}

/// A path out of a file must lead below the file's folder.
fs::path below(const fs::path& folder, const std::string& path, const Fields& source) {
  const fs::path normal = fs::path(path).lexically_normal();
  if (normal.empty() || normal.is_absolute() || *normal.begin() == "..")
    source.fail("folder", "the name of a folder below the study's");
  return folder / normal;
}

/// A run whose folder has been taken away: what the study's summary has of it.
Run run_without_folder(const Fields& summary, const fs::path& path) {
  nlohmann::json config = summary.json();
  config.erase("ranks");
  config["batch"] = summary.number("global_batch").value_or(0);
  return {.name = "",
          .folder = "",
          .path = path,
          .config = Fields(std::move(config), summary.source()),
          .summary = {},
          .metrics = {},
          .stopped = {}};
}

Source read_study(const fs::path& folder) {
  Source source{
      .kind = "compare", .runs = {}, .study = read_fields(folder / "summary.json"), .notes = {}};
  const Fields& study = *source.study;
  if (const std::string kind = study.text("kind"); !kind.empty()) source.kind = kind;
  if (source.kind != "compare" && source.kind != "mistakes" && source.kind != "scale")
    study.fail("kind", "a study that this version knows");
  const std::vector<Fields> runs = study.list("runs");
  if (runs.empty()) study.fail("runs", "a list of runs");
  if (runs.size() > kMostRuns) study.fail("runs", "a list of a length that can be shown");
  for (const Fields& summary : runs) {
    std::string name = summary.text("name");
    if (name.empty()) name = summary.count("workers") == 1 ? "alone" : summary.text("method");
    std::string its_folder = summary.text("folder");
    if (its_folder.empty()) its_folder = name;
    const fs::path path = below(folder, its_folder, summary);
    Run run = is_run_folder(path) ? read_run(path, name) : run_without_folder(summary, path);
    run.name = name;
    run.folder = its_folder;
    run.summary = summary;
    run.stopped.reset();
    if (!is_run_folder(path))
      source.notes.push_back(
          fmt::format("{}: its folder {} is not there: its curves are missing.", name, its_folder));
    source.runs.push_back(std::move(run));
  }
  return source;
}

std::vector<fs::path> run_folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (is_run_folder(entry.path())) folders.push_back(entry.path());
  // In the order in which they were begun.
  std::sort(folders.begin(), folders.end(), [](const fs::path& a, const fs::path& b) {
    const auto begun = [](const fs::path& run) { return fs::last_write_time(run / "config.json"); };
    return begun(a) != begun(b) ? begun(a) < begun(b) : a < b;
  });
  return folders;
}

Source read_several_in(const fs::path& folder) {
  const std::vector<fs::path> folders = run_folders_in(folder);
  if (folders.empty())
    throw FileError(fmt::format(
        "{}: not a run's folder: it has neither config.json nor summary.json. Name one that train, "
        "compare or scale has written, such as runs/train-…",
        folder.string()));
  if (folders.size() > kMostRuns)
    throw FileError(fmt::format("{}: has {} runs, more than a page can show: name some of them",
                                folder.string(), folders.size()));
  Source source{.kind = "side-by-side", .runs = {}, .study = {}, .notes = {}};
  for (const fs::path& run : folders) {
    source.runs.push_back(read_run(run, run.filename().string()));
    source.runs.back().folder = run.filename().string();
  }
  source.notes.push_back(fmt::format(
      "{} has no summary.json: a study that was stopped, or several runs. Those that are "
      "there are shown side by side.",
      name_of(folder)));
  return source;
}

Source read_one(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw FileError(fmt::format("{}: there is no such folder", folder.string()));
  if (is_run_folder(folder)) {
    Source source{.kind = "train", .runs = {}, .study = {}, .notes = {}};
    Run run = read_run(folder, name_of(folder));
    run.folder = ".";
    source.runs.push_back(std::move(run));
    return source;
  }
  if (fs::is_regular_file(folder / "summary.json")) return read_study(folder);
  return read_several_in(folder);
}

/// "run", "run (2)", "run (3)".
std::string unique(const std::string& name, std::set<std::string>& taken) {
  std::string result = name;
  for (int i = 2; !taken.insert(result).second; ++i) result = fmt::format("{} ({})", name, i);
  return result;
}

}  // namespace

Source read_source(const std::vector<fs::path>& folders) {
  Source all = folders.size() == 1
                   ? read_one(folders[0])
                   : Source{.kind = "side-by-side", .runs = {}, .study = {}, .notes = {}};
  for (const fs::path& folder : folders) {
    if (folders.size() == 1) break;
    Source one = read_one(folder);
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

}  // namespace lockstep::report
