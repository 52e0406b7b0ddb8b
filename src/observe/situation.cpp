#include "observe/situation.h"

#include "observe/statistics.h"

#include <algorithm>

namespace lockstep::observe {

Breakdown break_down(const Situation& situation) {
  Times mean;
  for (const RankMeasures& rank : situation.ranks) mean += rank.times;
  const double ranks = std::max<double>(1, situation.workers());
  for (const auto& [name, part] : kTimes) mean.*part /= ranks;
  // Ranks are late by their own work, or because their cores were taken away on the way to the
  // others. Of waiting that was measured some may be hidden, and some is the operations' latency.
  const double seen = mean.wait - mean.hidden - latency_of(situation);
  const double waiting = std::clamp(std::max(situation.waiting, seen), 0.0, mean.exposed);
  return {.total = mean.total,
          .data = mean.data,
          .compute = mean.forward + mean.backward + mean.optimizer,
          .waiting = waiting,
          .moving = mean.exposed - waiting};
}

double latency_of(const Situation& situation) {
  std::vector<double> seconds;
  for (const RankMeasures& rank : situation.ranks)
    seconds.push_back(std::min(rank.operations * rank.latency, rank.times.communication));
  return mean(seconds);
}

}  // namespace lockstep::observe
