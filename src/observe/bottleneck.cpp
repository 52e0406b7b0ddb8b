#include "observe/bottleneck.h"

#include "observe/statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep::internal::observe {

namespace {

constexpr std::pair<Limit, std::string_view> kNames[] = {{Limit::unknown, "unknown"},
                                                         {Limit::compute, "compute"},
                                                         {Limit::latency, "latency"},
                                                         {Limit::bandwidth, "bandwidth"},
                                                         {Limit::straggler, "straggler"},
                                                         {Limit::data, "data"},
                                                         {Limit::oversubscribed, "oversubscribed"},
                                                         {Limit::diverged, "diverged"}};

/// A rank is named as straggler if it delays the others by at least this fraction of an iteration.
constexpr double kStraggler = 0.15;
/// Waiting without a single slow rank counts from this fraction on: some waiting is normal.
constexpr double kUnsteady = 0.25;
/// On oversubscribed cores, a straggler or slow loading counts from this fraction on.
constexpr double kClearly = 0.4;

/// Seconds inside operations without the time spent waiting for later ranks.
double seconds_moving(const Situation& situation, const Breakdown& parts) {
  std::vector<double> seconds;
  for (const RankMeasures& rank : situation.ranks) seconds.push_back(rank.times.communication);
  return std::max(mean(seconds) - parts.waiting, parts.moving);
}

Bottleneck moving_of(const Situation& situation, const Breakdown& parts) {
  const bool latency = latency_of(situation) >= seconds_moving(situation, parts) / 2;
  return {latency ? Limit::latency : Limit::bandwidth, -1, parts.moving / parts.total};
}

/// The cost of waiting for the slowest rank. The rank is named only if it is slower than the others
/// on average; if the slowest rank changes between iterations, `rank` is -1.
Bottleneck waiting_of(const Situation& situation, const Breakdown& parts) {
  const Straggler slowest = slowest_rank(situation);
  if (slowest.late() >= kStraggler * parts.total)
    return {Limit::straggler, slowest.rank, slowest.waiting};
  return {Limit::straggler, -1, parts.waiting / parts.total};
}

}  // namespace

std::string_view name_of(Limit limit) {
  for (const auto& [one, name] : kNames)
    if (one == limit) return name;
  return kNames[0].second;
}

void to_json(nlohmann::json& json, const Bottleneck& bottleneck) {
  json = {
      {"kind", name_of(bottleneck.kind)}, {"share", bottleneck.share}, {"gain", bottleneck.gain}};
  if (bottleneck.rank >= 0) json["rank"] = bottleneck.rank;
  if (bottleneck.iteration > 0) json["iteration"] = bottleneck.iteration;
}

void from_json(const nlohmann::json& json, Bottleneck& bottleneck) {
  const auto& kind = json.at("kind").get_ref<const std::string&>();
  bottleneck = {Limit::unknown, json.value("rank", -1), json.at("share"), json.at("gain"),
                json.value("iteration", std::size_t{0})};
  for (const auto& [one, name] : kNames)
    if (name == kind) bottleneck.kind = one;
}

Straggler slowest_rank(const Situation& situation) {
  if (situation.workers() < 2) return {};
  auto is_faster = [](const RankMeasures& a, const RankMeasures& b) { return a.own() < b.own(); };
  const auto& ranks = situation.ranks;
  const auto slowest = std::max_element(ranks.begin(), ranks.end(), is_faster);
  std::vector<double> own, data;
  double waiting = 0, total = 0;
  for (const RankMeasures& rank : ranks) {
    if (&rank == &*slowest) continue;
    own.push_back(rank.own());
    data.push_back(rank.times.data);
    waiting += rank.times.wait;
    total += rank.times.total;
  }
  Straggler found{.rank = static_cast<int>(slowest - ranks.begin()),
                  .total = slowest->times.total,
                  .own = slowest->own(),
                  .others = percentile(own, 0.5),
                  .data = slowest->times.data,
                  .waiting = total > 0 ? waiting / total : 0};
  found.by_data = found.data - percentile(data, 0.5) > found.late() / 2;
  return found;
}

Bottleneck find_bottleneck(const Situation& situation) {
  const Breakdown parts = break_down(situation);
  if (!(parts.total > 0) || std::isinf(parts.total)) return {};
  const double compute = parts.compute / parts.total;
  const Bottleneck waiting = waiting_of(situation, parts);
  const Bottleneck moving = moving_of(situation, parts);
  const Bottleneck data{Limit::data, -1, parts.data / parts.total};
  const Bottleneck largest =
      std::max({waiting, moving, data},
               [](const Bottleneck& a, const Bottleneck& b) { return a.share < b.share; });

  if (situation.oversubscribed()) {
    // Ranks also wait for cores, so only the straggler's own work counts.
    const double share =
        largest.rank >= 0 ? slowest_rank(situation).late() / parts.total : largest.share;
    const bool clear = (largest.kind == Limit::data || largest.rank >= 0) && share >= kClearly;
    return clear ? largest : Bottleneck{Limit::oversubscribed, -1, 1 - compute};
  }
  // The time that ranks wait for a straggler is compute on that rank, so it is not compared with
  // compute.
  double enough = compute;
  if (largest.kind == Limit::straggler) enough = largest.rank >= 0 ? kStraggler : kUnsteady;
  return largest.share >= enough ? largest : Bottleneck{Limit::compute, -1, compute};
}

}  // namespace lockstep::internal::observe
