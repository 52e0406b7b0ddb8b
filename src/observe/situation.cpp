#include "observe/situation.h"

#include "observe/statistics.h"

#include <algorithm>

namespace lockstep::internal::observe {

Breakdown break_down(const Situation& situation) {
  Times mean;
  for (const RankMeasures& rank : situation.ranks) mean += rank.times;
  const double ranks = std::max<double>(1, situation.workers());
  for (const auto& [name, part] : kTimes) mean.*part /= ranks;
  return {.total = mean.total,
          .data = mean.data,
          .compute = mean.forward + mean.backward + mean.optimizer,
          .waiting = mean.wait,
          .moving = mean.exposed - mean.wait};
}

double latency_of(const Situation& situation) {
  std::vector<double> seconds;
  for (const RankMeasures& rank : situation.ranks)
    seconds.push_back(std::min(rank.operations * rank.latency, rank.times.communication));
  return mean(seconds);
}

}  // namespace lockstep::internal::observe
