#include "train/batch_split.h"

#include <algorithm>
#include <numeric>

namespace lockstep::internal::train {

BatchSplit split_by_speed(std::span<const double> speeds, std::size_t batch) {
  BatchSplit split(speeds.size(), 1);
  // Each further image goes to the worker that finishes first with it.
  const auto end_with_one_more = [&](std::size_t i) {
    return static_cast<double>(split[i] + 1) / speeds[i];
  };
  for (std::size_t left = batch - speeds.size(); left > 0; --left) {
    std::size_t first = 0;
    for (std::size_t i = 1; i < speeds.size(); ++i)
      if (end_with_one_more(i) < end_with_one_more(first)) first = i;
    ++split[first];
  }
  return split;
}

double seconds_of(const BatchSplit& split, std::span<const double> speeds) {
  double seconds = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    seconds = std::max(seconds, static_cast<double>(split[i]) / speeds[i]);
  return seconds;
}

data::Range slice_of_worker(const BatchSplit& split, std::size_t count, int worker) {
  const auto mine = split.begin() + worker;
  const std::size_t before = std::accumulate(split.begin(), mine, std::size_t{0});
  const std::size_t all = std::accumulate(mine, split.end(), before);
  return {.begin = before * count / all, .end = (before + *mine) * count / all};
}

}  // namespace lockstep::internal::train
