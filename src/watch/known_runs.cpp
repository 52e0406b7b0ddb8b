#include "watch/known_runs.h"

#include "base/hash/quick_hash.h"
#include "run/run_folder.h"
#include "run/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <system_error>

namespace lockstep::internal::watch {

namespace {

namespace fs = std::filesystem;

using nlohmann::json;

constexpr int kDeepest = 3;                   // levels of folders that are searched
constexpr std::size_t kMostFolders = 20'000;  // folders that are searched

fs::path whole(const fs::path& folder) {
  const fs::path normal = fs::absolute(folder).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

/// The same whenever this folder is watched.
std::string id_of(const fs::path& folder) {
  return fmt::format("{:016x}", quick_hash(std::as_bytes(std::span(folder.native()))));
}

/// Adds the run folders in `folder`, or itself.
void find_runs(const fs::path& folder, int depth, std::size_t& searched,
               std::vector<fs::path>& found) {
  if (++searched > kMostFolders) return;
  if (run::is_run_folder(folder)) {
    found.push_back(folder);
    return;
  }
  if (depth == kDeepest) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    if (entry->is_directory(vanished)) find_runs(entry->path(), depth + 1, searched, found);
  }
}

fs::file_time_type started(const fs::path& run) {
  std::error_code vanished;
  const auto time = fs::last_write_time(run / "config.json", vanished);
  return vanished ? fs::file_time_type::min() : time;
}

/// Whether a study started the run: the runs of one under way are all that there is of it.
bool is_of_study(const FollowedRun& run) {
  const std::string command = run.command();
  return command.starts_with("lockstep compare") || command.starts_with("lockstep scale");
}

}  // namespace

KnownRuns::KnownRuns(std::vector<fs::path> folders)
    : folders_([&] {
        for (fs::path& folder : folders) folder = whole(folder);
        return std::move(folders);
      }()) {}

void KnownRuns::refresh() {
  std::vector<fs::path> found;
  std::size_t searched = 0;
  for (const fs::path& folder : folders_) find_runs(folder, 0, searched, found);
  left_out_ = found.size() > kMost ? found.size() - kMost : 0;
  if (left_out_ > 0) {
    std::sort(found.begin(), found.end(),
              [](const auto& one, const auto& other) { return started(one) > started(other); });
    found.resize(kMost);
  }
  follow(found);
  make_groups();
}

void KnownRuns::follow(const std::vector<fs::path>& found) {
  std::set<std::string> present;
  for (const fs::path& folder : found) {
    const std::string id = id_of(folder);
    present.insert(id);
    std::unique_ptr<FollowedRun>& run = runs_[id];
    if (!run) run = std::make_unique<FollowedRun>(folder);
    run->refresh();
  }
  std::erase_if(runs_, [&](const auto& run) { return !present.contains(run.first); });
}

bool KnownRuns::is_watched(const fs::path& folder) const {
  return std::find(folders_.begin(), folders_.end(), folder) != folders_.end();
}

fs::path KnownRuns::group_folder_of(const FollowedRun& run) const {
  fs::path folder = run.folder().parent_path();
  if (!is_of_study(run)) return folder;
  // A study has folders with the runs of its repetitions.
  const bool repeated = std::any_of(runs_.begin(), runs_.end(), [&](const auto& other) {
    return other.second->folder().parent_path() == folder.parent_path() &&
           other.second->command() == run.command();
  });
  return repeated ? folder.parent_path() : folder;
}

void KnownRuns::make_groups() {
  groups_.clear();
  group_of_.clear();
  for (const auto& [id, run] : runs_) {
    if (is_watched(run->folder())) continue;
    const fs::path folder = group_folder_of(*run);
    if (is_watched(folder) && !run::is_study_folder(folder) && !is_of_study(*run)) continue;
    group_of_[id] = id_of(folder);
    Group& group = groups_[group_of_[id]];
    group.folder = folder;
    group.runs.push_back(id);
  }
  for (auto& [id, group] : groups_)
    std::sort(group.runs.begin(), group.runs.end(), [&](const auto& one, const auto& other) {
      return runs_.at(one)->started() < runs_.at(other)->started();
    });
}

fs::path KnownRuns::folder_of(const std::string& id) const {
  if (const auto run = runs_.find(id); run != runs_.end()) return run->second->folder();
  const auto group = groups_.find(id);
  return group == groups_.end() ? fs::path() : group->second.folder;
}

json KnownRuns::run_json(const std::string& id) const {
  const FollowedRun& run = *runs_.at(id);
  json json = run.to_json();
  json.update({{"id", id}, {"kind", "run"}, {"name", run.folder().filename().string()}});
  const auto group = group_of_.find(id);
  if (group == group_of_.end()) return json;
  const fs::path& folder = groups_.at(group->second).folder;
  json.update(
      {{"group", group->second}, {"name", run.folder().lexically_relative(folder).string()}});
  return json;
}

json KnownRuns::group_json(const std::string& id) const {
  const Group& group = groups_.at(id);
  const bool ended = run::is_study_folder(group.folder);
  std::string state = ended ? "ended" : "stopped";
  std::uint64_t version = 0;
  for (const std::string& run : group.runs) {
    version += runs_.at(run)->version();
    if (runs_.at(run)->state() == "running") state = "running";
  }
  return {{"id", id},
          {"kind", "group"},
          {"name", group.folder.filename().string()},
          {"command", runs_.at(group.runs.front())->command()},
          {"state", state},
          {"version", fmt::format("{}.{}.{}", group.runs.size(), version, ended)},
          {"count", group.runs.size()}};
}

json KnownRuns::state_json(const std::string& id) const {
  const auto run = runs_.find(id);
  if (run != runs_.end()) {
    json state = run_json(id);
    state["ranks"] = run->second->ranks_json();
    return state;
  }
  json state = group_json(id);
  state["runs"] = json::array();
  for (const std::string& its : groups_.at(id).runs) state["runs"].push_back(run_json(its));
  return state;
}

json KnownRuns::list_json() const {
  // Groups, and runs that are in none, by the start of their newest run.
  std::multimap<fs::file_time_type, std::string, std::greater<>> newest_first;
  for (const auto& [id, group] : groups_)
    newest_first.emplace(runs_.at(group.runs.back())->started(), id);
  for (const auto& [id, run] : runs_)
    if (!group_of_.contains(id)) newest_first.emplace(run->started(), id);

  json rows = json::array();
  for (const auto& [time, id] : newest_first) {
    if (runs_.contains(id)) {
      rows.push_back(run_json(id));
      continue;
    }
    rows.push_back(group_json(id));
    for (const std::string& run : groups_.at(id).runs) rows.push_back(run_json(run));
  }
  json folders = json::array();
  for (const fs::path& folder : folders_) folders.push_back(folder.string());
  return {{"folders", folders}, {"runs", rows}, {"left_out", left_out_}};
}

}  // namespace lockstep::internal::watch
