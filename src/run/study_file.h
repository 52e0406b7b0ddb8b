// Writing and reading the summary.json of a study: the runs of compare, scale or the mistakes, with
// tables and findings. Each entry of `runs` is the summary of a run with further fields and its
// folder.
#pragma once

#include "base/table/text_table.h"
#include "run/fields.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::internal::run {

struct Study {
  std::string kind;  ///< "compare", "mistakes" or "scale"
  std::string verdict;
  std::vector<std::string> notes;
  std::vector<TextTable> tables;
  nlohmann::json runs = nlohmann::json::array();
};

nlohmann::json to_json(const Study& study);

void write_study(const std::filesystem::path& folder, const nlohmann::json& study);

/// Removes the files of an earlier study from the folder, but not its runs.
void remove_study(const std::filesystem::path& folder);

/// Whether the folder holds a summary.json. REQUIRES: the folder is not that of a single run, which
/// has a summary.json too; check is_run_folder() first.
bool is_study_folder(const std::filesystem::path& folder);

struct StudiedRun {
  std::string name;
  std::string folder;  ///< path relative to the study's folder
  Fields summary;
};

struct StudyRecord {
  std::string kind;
  Fields fields;
  std::vector<TextTable> tables;
  std::vector<StudiedRun> runs;
};

/// Throws FileError if the file is malformed or has more than kMostRuns runs.
StudyRecord read_study(const std::filesystem::path& folder);

/// The most runs that a report can show.
constexpr std::size_t kMostRuns = 200;

}  // namespace lockstep::internal::run
