#include "watch/site.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "report/html.h"
#include "report/page.h"
#include "report/source.h"

#include <algorithm>
#include <utility>

namespace lockstep::internal::watch {

namespace {

using nlohmann::json;

constexpr double kRefreshAfter = 0.5;  // seconds
constexpr std::size_t kMostPages = 8;  // kept in memory
constexpr std::size_t kLongestId = 16;

HttpResponse text_of(std::string type, std::string body) {
  return {200, std::move(type) + "; charset=utf-8", std::move(body)};
}

HttpResponse json_of(const json& value) {
  return text_of("application/json", value.dump(-1, ' ', false, json::error_handler_t::replace));
}

HttpResponse not_found() {
  return {404, "text/plain", ""};
}

}  // namespace

void Site::refresh() {
  const double begin = now_seconds();
  if (begin < next_refresh_) return;
  known_.refresh();
  const double end = now_seconds();
  next_refresh_ = end + std::max(kRefreshAfter, 20 * (end - begin));  // trainings need the cores
}

HttpResponse Site::answer(const HttpRequest& request) {
  const std::string& path = request.path;
  if (std::string script = report::script_at(path); !script.empty())
    return text_of("text/javascript", std::move(script));
  if (path == "/page.css") return text_of("text/css", report::watch_style());
  refresh();
  if (path == "/")
    return text_of("text/html",
                   report::runs_html_of({{"title", "Runs"}, {"list", known_.list_json()}}));
  if (path == "/runs.json") return json_of(known_.list_json());
  constexpr std::string_view kRun = "/run/";
  if (!path.starts_with(kRun) || path.size() < kRun.size() + kLongestId) return not_found();
  return answer_about(path.substr(kRun.size(), kLongestId), path.substr(kRun.size() + kLongestId));
}

HttpResponse Site::answer_about(const std::string& id, const std::string& what) {
  if (known_.folder_of(id).empty()) return not_found();
  if (what == "/state.json") return json_of(known_.state_json(id));
  if (what == "/page.json") return json_of(page_of(id));
  if (what != "/") return not_found();
  json state = known_.state_json(id);
  json page;
  try {
    page = page_of(id);
  } catch (const FileError& problem) {
    page = {{"title", state["name"]}, {"notes", json::array({problem.what()})}};
    state["version"] = nullptr;  // the page asks again
  }
  page["watch"] = std::move(state);
  return text_of("text/html", report::watched_html_of(page));
}

const json& Site::page_of(const std::string& id) {
  if (pages_.size() >= kMostPages && !pages_.contains(id)) pages_.clear();
  Page& page = pages_[id];
  const std::string version = known_.state_json(id)["version"].dump();
  if (page.version == version) return page.json;
  const auto follow = [&](const std::filesystem::path& file) {
    return page.metrics.try_emplace(file, file).first->second.read();
  };
  page.json = report::page_json(report::read_source({known_.folder_of(id)}, follow));
  page.version = version;
  return page.json;
}

}  // namespace lockstep::internal::watch
