#include "report/report.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "report/assets.h"
#include "report/page.h"

#include <fmt/format.h>

#include <string_view>

namespace lockstep::report {

namespace {

/// In a page's script no text can end the script: JSON has no other use for '<'.
std::string json_for_html(const nlohmann::json& page) {
  const std::string text = page.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string html_of(const nlohmann::json& page) {
  const std::pair<std::string_view, std::string> parts[] = {
      {"PAGE_TITLE", escaped(page.value("title", ""))},
      {"/*STYLE*/", std::string(kPageStyle)},
      {"PAGE_DATA", json_for_html(page)},
      {"/*LIBRARY*/", std::string(kChartLibrary)},
      {"/*SCRIPTS*/", std::string(kPageScripts)}};
  std::string html;
  std::string_view rest = kPageSkeleton;
  // In the skeleton's order, and never within what was put in.
  for (;;) {
    const std::pair<std::string_view, std::string>* next = nullptr;
    for (const auto& part : parts)
      if (next == nullptr || rest.find(part.first) < rest.find(next->first)) next = &part;
    const std::size_t place = rest.find(next->first);
    html += rest.substr(0, place);
    if (place == std::string_view::npos) return html;
    html += next->second;
    rest.remove_prefix(place + next->first.size());
  }
}

bool has_runs(const std::filesystem::path& folder) {
  std::error_code error;
  if (is_run_folder(folder) || std::filesystem::exists(folder / "summary.json", error)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (is_run_folder(entry.path())) return true;
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

}  // namespace lockstep::report
