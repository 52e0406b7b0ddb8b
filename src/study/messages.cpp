#include "study/messages.h"

#include "base/files.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace lockstep::study {

namespace {

/// All gradients as one array, from the bytes that a rank moves on average: 2(W−1)/W of it,
/// whichever way.
Messages all_at_once(const train::Summary& summary) {
  const double ranks = summary.workers;
  const double bytes = summary.bytes_per_iteration * ranks / (2 * (ranks - 1));
  if (bytes < 1) return {};
  return {{static_cast<std::size_t>(std::lround(bytes)), 1}};
}

/// Rank 0's events of one category.
std::vector<nlohmann::json> events_of(const nlohmann::json& trace, const std::string& category) {
  std::vector<nlohmann::json> events;
  for (const nlohmann::json& event : trace.value("traceEvents", nlohmann::json::array()))
    if (event.value("pid", -1) == 0 && event.value("cat", "") == category) events.push_back(event);
  return events;
}

}  // namespace

Messages messages_of(const train::Summary& summary, const std::filesystem::path& run_dir) {
  const std::filesystem::path file = run_dir / "trace.json";
  const bool reduces = summary.sync == "ddp" || summary.sync == "all-reduce";
  if (!reduces || !std::filesystem::exists(file)) return all_at_once(summary);
  const auto trace = nlohmann::json::parse(read_file(file), nullptr, false);
  if (trace.is_discarded()) return all_at_once(summary);
  const std::vector<nlohmann::json> iterations = events_of(trace, "iteration");
  if (iterations.empty()) return all_at_once(summary);
  const double begin = iterations.back().at("ts");
  const double end = begin + iterations.back().at("dur").get<double>();
  Messages messages;
  for (const nlohmann::json& event : events_of(trace, "collective")) {
    const double moment = event.at("ts");
    if (moment >= begin && moment <= end)
      ++messages[event.at("args").at("bytes").get<std::size_t>()];
  }
  return messages.empty() ? all_at_once(summary) : messages;
}

}  // namespace lockstep::study
