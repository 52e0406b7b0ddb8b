#include "report/html.h"

#include "report/assets.h"

#include <string_view>

namespace lockstep::internal::report {

namespace {

// As page/watch/watch.html names them.
constexpr std::string_view kChartScript = "/chart.js";
constexpr std::string_view kRunsScript = "/runs.js";
constexpr std::string_view kWatchedScript = "/run.js";

/// JSON in which '<' is escaped, so that no string can end the script element around it.
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

std::string assembled(const nlohmann::json& page, std::string_view scripts,
                      std::string_view skeleton = kPageSkeleton) {
  const std::pair<std::string_view, std::string> parts[] = {
      {"PAGE_TITLE", escaped(page.value("title", ""))},
      {"/*STYLE*/", std::string(kPageStyle)},
      {"PAGE_DATA", json_for_html(page)},
      {"/*LIBRARY*/", std::string(kChartLibrary)},
      {"/*SCRIPTS*/", std::string(scripts)}};
  std::string html;
  std::string_view rest = skeleton;
  // Placeholders are replaced in the skeleton only, never in inserted text.
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

}  // namespace

std::string html_of(const nlohmann::json& page) {
  return assembled(page, kPageScripts);
}

std::string dataflow_html_of(const nlohmann::json& page) {
  return assembled(page, kDataflowScripts);
}

std::string predict_html_of(const nlohmann::json& page) {
  return assembled(page, kPredictScripts);
}

std::string collective_html_of(const nlohmann::json& page) {
  return assembled(page, kCollectiveScripts);
}

std::string runs_html_of(const nlohmann::json& page) {
  return assembled(page, kRunsScript, kWatchSkeleton);
}

std::string watched_html_of(const nlohmann::json& page) {
  return assembled(page, kWatchedScript, kWatchSkeleton);
}

std::string script_at(std::string_view path) {
  if (path == kChartScript) return std::string(kChartLibrary);
  for (const auto& [place, scripts] :
       {std::pair(kRunsScript, kRunsScripts), std::pair(kWatchedScript, kWatchedScripts)})
    if (path == place)
      return "(() => {\n'use strict';\n" + std::string(scripts) + "startPage();\n})();\n";
  return "";
}

std::string watch_style() {
  return std::string(kPageStyle) + std::string(kWatchStyle);
}

}  // namespace lockstep::internal::report
