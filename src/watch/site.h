// Site: what `lockstep watch` answers to requests. docs/watch.md lists the addresses.
#pragma once

#include "report/metrics.h"
#include "watch/http_request.h"
#include "watch/http_server.h"
#include "watch/known_runs.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::watch {

/// Thread safety: one thread at a time.
class Site {
 public:
  explicit Site(std::vector<std::filesystem::path> folders) : known_(std::move(folders)) {}

  /// Throws FileError for a run whose files are damaged.
  HttpResponse answer(const HttpRequest& request);

 private:
  /// The page of a run or study that was asked for, so that only new metrics are read again.
  struct Page {
    std::map<std::filesystem::path, report::FollowedMetrics> metrics;
    std::string version;  ///< as JSON
    nlohmann::json json = nlohmann::json::object();
  };

  void refresh();
  HttpResponse answer_about(const std::string& id, const std::string& what);
  const nlohmann::json& page_of(const std::string& id);

  KnownRuns known_;
  double next_refresh_ = 0;            ///< not before, in seconds of now_seconds()
  std::map<std::string, Page> pages_;  ///< by id
};

}  // namespace lockstep::internal::watch
