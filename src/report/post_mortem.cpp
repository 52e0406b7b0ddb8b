#include "report/post_mortem.h"

#include "report/lane.h"
#include "report/numbers.h"
#include "run/post_mortem_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::report {

namespace {

using nlohmann::json;

// The shown interval, in seconds relative to the failure.
constexpr double kFrom = -1;
constexpr double kUntil = 0.5;
constexpr std::size_t kMostLines = 20;

/// A time from the file, clamped to the shown interval, in microseconds.
double cut(double seconds) {
  return 1e6 * std::clamp(seconds, kFrom, kUntil);
}

std::string detail_of(const run::LastOperation& operation) {
  std::string detail = operation.algorithm;
  const auto add = [&](const std::string& more) { detail += (detail.empty() ? "" : ", ") + more; };
  if (operation.peer) add(fmt::format("rank {}", *operation.peer));
  if (operation.bucket) add(fmt::format("bucket {}", *operation.bucket));
  if (operation.step) add(fmt::format("step {}", *operation.step));
  if (operation.outcome != "ended") add(operation.outcome);
  return detail;
}

/// Adds an operation that overlaps the shown interval. An unfinished one lasts until the rank
/// ended.
void add_operation(const run::LastOperation& operation, double rank_ended, Lane& lane) {
  const double end = std::max(operation.begin, operation.end.value_or(rank_ended));
  if (end < kFrom || operation.begin > kUntil) return;
  run::TraceFileEvent event;
  event.name = operation.name;
  if (!operation.peer) event.name += fmt::format(" #{}", operation.sequence);
  event.kind = operation.peer ? "message" : "collective";
  event.start = cut(operation.begin);
  event.length = cut(end) - cut(operation.begin);
  event.bytes = operation.bytes;
  // An operation that failed or did not finish only waited.
  event.wait = operation.outcome == "ended" ? 1e6 * operation.wait : event.length;
  event.detail = detail_of(operation);
  lane.add(event, 0);
}

json lane_of(const run::RankEnd& rank, const TimelineLimits& limits, std::size_t& spans_left_out) {
  Lane lane;
  for (const run::LastOperation& operation : rank.operations)
    add_operation(operation, rank.end.value_or(kUntil), lane);
  spans_left_out += lane.arrange(limits.spans);
  json object = lane.to_json(static_cast<int>(rank.rank), "communication");
  if (rank.end && *rank.end >= kFrom && *rank.end <= kUntil) object["end"] = shown(1e6 * *rank.end);
  return object;
}

std::vector<std::string> row_of(const run::RankEnd& rank) {
  const auto or_none = [](std::string text) { return text.empty() ? std::string("–") : text; };
  return {std::to_string(rank.rank),
          or_none(rank.ending),
          rank.step > 0 ? std::to_string(rank.step) : "–",
          or_none(rank.within),
          or_none(fmt::format("{}", fmt::join(rank.waited_for, ", "))),
          rank.waited_for.empty() || !rank.waited ? "–" : milliseconds(*rank.waited)};
}

TextTable table_of(const std::vector<run::RankEnd>& ranks) {
  TextTable table{
      .title = "Ranks at the end of the run",
      .columns = {"rank",
                  "exit",
                  "step",
                  {"operation", "the operation that was unfinished or failed"},
                  "waited for rank",
                  {"waited ms", "in that operation, until the rank gave up or was killed"}}};
  for (const run::RankEnd& rank : ranks) table.rows.push_back(row_of(rank));
  return table;
}

}  // namespace

Timeline read_post_mortem(const std::filesystem::path& file, const TimelineLimits& limits) {
  auto [verdict, ranks] = run::read_post_mortem_file(file);
  verdict.resize(std::min(verdict.size(), kMostLines));
  Timeline post_mortem;
  json lanes = json::array();
  for (std::size_t i = 0; i < std::min(ranks.size(), limits.ranks); ++i)
    lanes.push_back(lane_of(ranks[i], limits, post_mortem.spans_left_out));
  post_mortem.ranks_left_out = ranks.size() - lanes.size();
  post_mortem.json = {{"verdict", verdict},
                      {"table", table_of(ranks)},
                      {"timeline", {{"microseconds", 0}, {"lanes", std::move(lanes)}}}};
  return post_mortem;
}

TextTable post_mortem_table(const std::filesystem::path& file) {
  return table_of(run::read_post_mortem_file(file).ranks);
}

}  // namespace lockstep::internal::report
