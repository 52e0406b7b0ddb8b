#include "train/division.h"

#include <algorithm>
#include <numeric>

namespace lockstep::train {

Division divide_by_speed(std::span<const double> speeds, std::size_t batch) {
  Division division(speeds.size(), 1);
  // Every further image goes to whoever ends first with it.
  const auto end_with_one_more = [&](std::size_t i) {
    return static_cast<double>(division[i] + 1) / speeds[i];
  };
  for (std::size_t left = batch - speeds.size(); left > 0; --left) {
    std::size_t first = 0;
    for (std::size_t i = 1; i < speeds.size(); ++i)
      if (end_with_one_more(i) < end_with_one_more(first)) first = i;
    ++division[first];
  }
  return division;
}

double seconds_of(const Division& division, std::span<const double> speeds) {
  double seconds = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    seconds = std::max(seconds, static_cast<double>(division[i]) / speeds[i]);
  return seconds;
}

data::Range share_of(const Division& division, std::size_t count, int worker) {
  const auto mine = division.begin() + worker;
  const std::size_t before = std::accumulate(division.begin(), mine, std::size_t{0});
  const std::size_t all = std::accumulate(mine, division.end(), before);
  return {.begin = before * count / all, .end = (before + *mine) * count / all};
}

}  // namespace lockstep::train
