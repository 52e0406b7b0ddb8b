#include "observe/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::observe {

std::string verdict(const Situation& situation) {
  const Times& mean = situation.mean;
  if (mean.total <= 0) return "Too short to tell what limits this run: train more iterations.";
  auto share = [&](double seconds) { return 100 * seconds / mean.total; };
  const double compute = share(mean.forward + mean.backward + mean.optimizer);
  const double waiting = share(std::min(mean.wait, mean.exposed));
  const double moving = share(mean.exposed) - waiting;
  const double data = share(mean.data);
  const double largest = std::max({compute, waiting, moving, data});

  if (situation.workers * situation.threads > situation.cores && largest != data)
    return fmt::format(
        "{} workers × {} thread{} share {} cores: workers take turns ({:.0f} % compute, {:.0f} % "
        "waiting for each other), so this run shows overhead, not speed-up. Use at most {} "
        "workers.",
        situation.workers, situation.threads, situation.threads == 1 ? "" : "s", situation.cores,
        compute, waiting, situation.cores);
  if (largest == data)
    return fmt::format("Data loading takes {:.0f} % of an iteration: it limits this run.", data);
  if (largest == compute)
    return fmt::format(
        "Compute-bound: forward, backward and update take {:.0f} % of an iteration, communication "
        "that is not hidden {:.0f} %.",
        compute, waiting + moving);
  if (largest == waiting)
    return fmt::format(
        "Workers wait for the slowest of them {:.0f} % of the time: give them equal work and "
        "cores.",
        waiting);
  return fmt::format(
      "Communication-bound: {:.0f} % of an iteration moves gradients that backward does not hide. "
      "Try --sync ddp, or a larger batch.",
      moving);
}

}  // namespace lockstep::observe
