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

TextTable read_table(const Fields& fields) {
  TextTable table{.title = fields.text("title")};
  const Fields explain = fields.object("explain");
  for (const std::string& column : fields.texts("columns"))
    table.columns.emplace_back(column, explain.text(column.c_str()));
  const nlohmann::json rows = fields.json().value("rows", nlohmann::json::array());
  if (!rows.is_array()) fields.fail("rows", "a list");
  for (const nlohmann::json& row : rows) {
    if (!row.is_array() || row.size() != table.columns.size())
      fields.fail("rows", "a list of rows with one cell per column");
    for (const nlohmann::json& cell : row)
      if (!cell.is_string()) fields.fail("rows", "a list of rows of strings");
    table.rows.push_back(row.get<std::vector<std::string>>());
  }
  return table;
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
  StudyRecord study{
      .kind = "compare", .fields = read_fields(folder / kFile), .tables = {}, .runs = {}};
  const Fields& fields = study.fields;
  if (const std::string kind = fields.text("kind"); !kind.empty()) study.kind = kind;
  if (study.kind != "compare" && study.kind != "mistakes" && study.kind != "scale")
    fields.fail("kind", "a kind of study that this version knows");
  const std::vector<Fields> runs = fields.list("runs");
  if (runs.empty()) fields.fail("runs", "a list of runs");
  if (runs.size() > kMostRuns) fields.fail("runs", "a list of at most 200 runs");
  for (const Fields& summary : runs) study.runs.push_back(studied_run(summary));
  for (const Fields& table : fields.list("tables")) study.tables.push_back(read_table(table));
  return study;
}

}  // namespace lockstep::internal::run
