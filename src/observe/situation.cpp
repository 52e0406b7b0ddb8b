#include "observe/situation.h"

#include "observe/statistics.h"

#include <algorithm>

namespace lockstep::internal::observe {

Breakdown break_down(const Situation& situation) {
  Times mean;
  for (const RankMeasures& rank : situation.ranks) mean += rank.times;
  const double ranks = std::max<double>(1, situation.workers());
  for (const auto& [name, part] : kTimes) mean.*part /= ranks;
  // Two estimates of waiting: the difference in own work, and the measured waits. The second also
  // covers ranks that lost their core, but includes hidden waits and latency, which are subtracted.
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

}  // namespace lockstep::internal::observe
