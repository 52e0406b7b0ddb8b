#include "report/report.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/table/export.h"
#include "report/browser/browser.h"
#include "report/browser/pictures.h"
#include "report/headline.h"
#include "report/html.h"
#include "report/page.h"
#include "report/tables.h"
#include "run/run_folder.h"
#include "run/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lockstep::internal::report {

namespace {

/// "Speed-up by batch: ddp" becomes "speed-up-by-batch-ddp".
std::string file_name_of(std::string_view title) {
  constexpr std::size_t kLongest = 100;
  std::string name;
  for (const char character : title.substr(0, kLongest)) {
    if (std::isalnum(static_cast<unsigned char>(character)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  if (name.ends_with('-')) name.pop_back();
  return name.empty() ? "table" : name;
}

}  // namespace

bool has_runs(const std::filesystem::path& folder) {
  std::error_code error;
  if (run::is_run_folder(folder) || run::is_study_folder(folder)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (run::is_run_folder(entry.path())) return true;
  return false;
}

void write_report(const std::vector<std::filesystem::path>& folders,
                  const std::filesystem::path& file) {
  write_file(file, html_of(page_json(read_source(folders))));
}

std::filesystem::path write_report(const std::filesystem::path& folder) {
  write_report(std::vector{folder}, folder / kReportFile);
  return folder / kReportFile;
}

std::vector<std::filesystem::path> write_csv(const std::vector<std::filesystem::path>& folders,
                                             const std::filesystem::path& to) {
  const std::vector<TextTable> tables = all_tables_of(read_source(folders));
  make_folder(to);
  std::vector<std::filesystem::path> files;
  for (const TextTable& table : tables) {
    const std::string name = file_name_of(table.title);
    std::filesystem::path file = to / (name + ".csv");
    for (int i = 2; std::find(files.begin(), files.end(), file) != files.end(); ++i)
      file = to / fmt::format("{}-{}.csv", name, i);
    write_file(file, to_csv(table));
    files.push_back(std::move(file));
  }
  return files;
}

void write_markdown(const std::vector<std::filesystem::path>& folders,
                    const std::filesystem::path& file) {
  const Source source = read_source(folders);
  std::string text = fmt::format("# {}\n", markdown_text(title_of(source)));
  for (const TextTable& table : all_tables_of(source)) text += "\n" + to_markdown(table);
  write_file(file, text);
}

std::vector<std::filesystem::path> write_png(const std::vector<std::filesystem::path>& folders,
                                             const std::filesystem::path& to) {
  require_browser();
  nlohmann::json page = page_json(read_source(folders));
  page["export"] = "pictures";
  const std::vector<Picture> pictures = draw_pictures(html_of(page));
  make_folder(to);
  std::vector<std::filesystem::path> files;
  for (const Picture& picture : pictures) {
    files.push_back(to / (picture.name + ".png"));
    write_file(files.back(), picture.png);
  }
  return files;
}

void write_pdf(const std::vector<std::filesystem::path>& folders,
               const std::filesystem::path& file) {
  require_browser();
  print_page(html_of(page_json(read_source(folders))), file);
}

}  // namespace lockstep::internal::report
