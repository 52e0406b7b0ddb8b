#include "report/timeline.h"

#include "report/lane.h"
#include "run/trace_file.h"

#include <algorithm>
#include <map>

namespace lockstep::internal::report {

namespace {

/// The interval of the shown iteration on one rank.
struct Window {
  double begin = 0;
  double end = 0;

  bool has(double moment) const { return begin <= moment && moment < end; }
};

using Iterations = std::map<std::int64_t, Window>;  // by number
using ByRank = std::map<int, Iterations>;

ByRank read_iterations(const std::filesystem::path& trace) {
  ByRank ranks;
  run::for_each_event(trace, true, [&](const run::TraceFileEvent& event) {
    if (event.kind == "iteration")
      ranks[event.rank][event.iteration] = {event.start, event.start + event.length};
  });
  return ranks;
}

/// The iteration with the median time, without the first of the run. REQUIRES: not empty.
std::int64_t typical(const Iterations& iterations) {
  std::vector<std::pair<double, std::int64_t>> lengths;
  for (const auto& [number, window] : iterations)
    if (number > 1 || iterations.size() == 1)
      lengths.emplace_back(window.end - window.begin, number);
  std::sort(lengths.begin(), lengths.end());
  return lengths[(lengths.size() - 1) / 2].second;
}

/// The windows of one iteration, for the first `most` ranks that have it.
std::map<int, Window> windows_of(const ByRank& ranks, std::int64_t number, std::size_t most) {
  std::map<int, Window> windows;
  for (const auto& [rank, iterations] : ranks)
    if (const auto found = iterations.find(number);
        found != iterations.end() && windows.size() < most)
      windows.emplace(rank, found->second);
  return windows;
}

}  // namespace

Timeline read_timeline(const std::filesystem::path& trace, const TimelineLimits& limits) {
  const ByRank ranks = read_iterations(trace);
  if (ranks.empty()) return {};
  const std::int64_t number = typical(ranks.begin()->second);
  const std::map<int, Window> windows = windows_of(ranks, number, limits.ranks);
  const double origin = windows.begin()->second.begin;

  std::map<std::pair<int, int>, Lane> lanes;  // by rank and row
  run::for_each_event(trace, false, [&](const run::TraceFileEvent& event) {
    const auto window = windows.find(event.rank);
    if (window == windows.end() || event.kind == "iteration") return;
    // Both are redundant: collectives have their waits, and a bucket is ready with its last
    // gradient.
    if (event.kind == "wait" || event.kind == "bucket") return;
    if (event.phase == 'e' || window->second.has(event.start))
      lanes[{event.rank, event.row}].add(event, origin);
  });

  Timeline timeline;
  timeline.ranks_left_out = ranks.size() - windows.size();
  nlohmann::json list = nlohmann::json::array();
  for (auto& [place, lane] : lanes) {
    timeline.spans_left_out += lane.arrange(limits.spans);
    list.push_back(lane.to_json(place.first, place.second == 0 ? "training" : "communication"));
  }
  double end = 0;
  for (const auto& [rank, window] : windows) end = std::max(end, window.end - origin);
  timeline.json = {{"iteration", number}, {"microseconds", shown(end)}, {"lanes", std::move(list)}};
  return timeline;
}

}  // namespace lockstep::internal::report
