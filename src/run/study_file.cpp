#include "run/study_file.h"

#include "base/files.h"

namespace lockstep::internal::run {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "summary.json";

/// A path from the file must stay below the study's folder.
void require_below(const std::string& folder, const Fields& source) {
  const fs::path normal = fs::path(folder).lexically_normal();
  if (normal.empty() || normal.is_absolute() || *normal.begin() == "..")
    source.fail("folder", "the path of a folder below the study's folder");
}

StudiedRun studied_run(const Fields& summary) {
  std::string name = summary.text("name");
  if (name.empty()) name = summary.count("workers") == 1 ? "alone" : summary.text("method");
  std::string folder = summary.text("folder");
  if (folder.empty()) folder = name;
  require_below(folder, summary);
  return {std::move(name), std::move(folder), summary};
}

}  // namespace

nlohmann::json to_json(const Study& study) {
  return {{"format", kFormat},      {"kind", study.kind},   {"runs", study.runs},
          {"tables", study.tables}, {"notes", study.notes}, {"verdict", study.verdict}};
}

void write_study(const fs::path& folder, const nlohmann::json& study) {
  write_file(folder / kFile, study.dump(2) + "\n");
}

void remove_study(const fs::path& folder) {
  std::error_code none;
  for (const char* stale : {kFile, "report.html"}) fs::remove(folder / stale, none);
}

bool is_study_folder(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / kFile, none);
}

StudyRecord read_study(const fs::path& folder) {
  StudyRecord study{.kind = "compare", .fields = read_fields(folder / kFile), .runs = {}};
  const Fields& fields = study.fields;
  if (const std::string kind = fields.text("kind"); !kind.empty()) study.kind = kind;
  if (study.kind != "compare" && study.kind != "mistakes" && study.kind != "scale")
    fields.fail("kind", "a kind of study that this version knows");
  const std::vector<Fields> runs = fields.list("runs");
  if (runs.empty()) fields.fail("runs", "a list of runs");
  if (runs.size() > kMostRuns) fields.fail("runs", "a list of at most 200 runs");
  for (const Fields& summary : runs) study.runs.push_back(studied_run(summary));
  return study;
}

}  // namespace lockstep::internal::run
