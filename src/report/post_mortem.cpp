#include "report/post_mortem.h"

#include "report/fields.h"
#include "report/lane.h"
#include "report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::report {

namespace {

using nlohmann::json;

// Seconds around the moment that the file's times count from.
constexpr double kFrom = -1;
constexpr double kUntil = 0.5;
constexpr std::size_t kMostLines = 20;
constexpr std::size_t kMostRanks = 1 << 16;

/// A time out of the file, cut to what is shown, in microseconds.
double cut(double seconds) {
  return 1e6 * std::clamp(seconds, kFrom, kUntil);
}

std::size_t rank_of(const Fields& rank) {
  const std::size_t number = rank.count("rank");
  if (number >= kMostRanks) rank.fail("rank", "a rank");
  return number;
}

/// When a rank ended, as far as that is known; what it had begun lasted until then.
double end_of(const Fields& rank) {
  return rank.number("end").value_or(kUntil);
}

std::string detail_of(const Fields& operation, const std::string& outcome) {
  std::string detail = operation.text("algorithm");
  const auto add = [&](const std::string& more) { detail += (detail.empty() ? "" : ", ") + more; };
  if (operation.json().contains("peer")) add(fmt::format("rank {}", operation.count("peer")));
  if (operation.json().contains("bucket")) add(fmt::format("bucket {}", operation.count("bucket")));
  if (operation.json().contains("step")) add(fmt::format("step {}", operation.count("step")));
  if (outcome != "ended") add(outcome);
  return detail;
}

/// Nothing to draw if it was before all that is shown, or after it.
void add_operation(const Fields& operation, double rank_ended, Lane& lane) {
  const double begin = operation.number("begin").value_or(0);
  const double end = std::max(begin, operation.number("end").value_or(rank_ended));
  if (end < kFrom || begin > kUntil) return;
  TraceFileEvent event;
  const std::string outcome = operation.text("outcome");
  const bool message = operation.json().contains("peer");
  event.name = operation.text("operation");
  if (!message) event.name += fmt::format(" #{}", operation.count("sequence"));
  event.kind = message ? "message" : "collective";
  event.start = cut(begin);
  event.length = cut(end) - cut(begin);
  event.bytes = operation.number("bytes").value_or(0);
  // What never ended was nothing but waiting.
  event.wait = outcome == "ended" ? 1e6 * operation.number("wait").value_or(0) : event.length;
  event.detail = detail_of(operation, outcome);
  lane.add(event, 0);
}

json lane_of(const Fields& rank, const TimelineLimits& limits, std::size_t& spans_left_out) {
  Lane lane;
  for (const Fields& operation : rank.list("operations"))
    add_operation(operation, end_of(rank), lane);
  spans_left_out += lane.arrange(limits.spans);
  json object = lane.to_json(static_cast<int>(rank_of(rank)), "communication");
  if (const auto end = rank.number("end"); end && *end >= kFrom && *end <= kUntil)
    object["end"] = shown(1e6 * *end);
  return object;
}

std::vector<std::string> row_of(const Fields& rank) {
  const auto or_none = [](std::string text) { return text.empty() ? std::string("–") : text; };
  std::vector<std::string> others;
  const json waited_for = rank.json().value("waited_for", json::array());
  if (!waited_for.is_array() || waited_for.size() > kMostRanks)
    rank.fail("waited_for", "a list of ranks");
  for (const json& other : waited_for) {
    if (!other.is_number_integer()) rank.fail("waited_for", "a list of ranks");
    others.push_back(other.dump());
  }
  const auto waited = rank.number("waited_seconds");
  return {std::to_string(rank_of(rank)),
          or_none(rank.text("ending")),
          rank.count("step") > 0 ? std::to_string(rank.count("step")) : "–",
          or_none(rank.text("within")),
          or_none(fmt::format("{}", fmt::join(others, ", "))),
          others.empty() || !waited ? "–" : milliseconds(*waited)};
}

json table_of(const std::vector<Fields>& ranks) {
  json rows = json::array();
  for (const Fields& rank : ranks) rows.push_back(row_of(rank));
  return {{"title", "Every rank's end"},
          {"columns", {"rank", "ended", "step", "in", "waited for rank", "waited ms"}},
          {"rows", std::move(rows)},
          {"explain",
           {{"in", "the operation that it had begun, and that never ended well"},
            {"waited ms", "in that operation, until it gave up or was ended"}}}};
}

}  // namespace

Timeline read_post_mortem(const std::filesystem::path& file, const TimelineLimits& limits) {
  const Fields fields = read_fields(file);
  const std::vector<Fields> ranks = fields.list("ranks");
  if (ranks.size() > kMostRanks) fields.fail("ranks", "a list of a length that can be shown");
  std::vector<std::string> verdict = fields.texts("verdict");
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

}  // namespace lockstep::report
