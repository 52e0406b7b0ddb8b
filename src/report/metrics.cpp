#include "report/metrics.h"

#include <lockstep/error.h>

#include "report/lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::report {

namespace {

observe::Times divided(observe::Times times, std::size_t count) {
  for (const auto& [name, part] : observe::kTimes)
    times.*part /= static_cast<double>(std::max<std::size_t>(1, count));
  return times;
}

void take(const MetricsLine& line, Metrics& metrics) {
  if (line.kind == "test") {
    metrics.test = TestScore{static_cast<std::size_t>(line.iteration), line.loss, line.accuracy};
    return;
  }
  if (line.kind != "iteration" && line.kind != "epoch") return;
  RankMetrics& rank = metrics.ranks[line.rank];
  if (line.kind == "epoch") {
    rank.epochs.add(line.epoch, line.loss, line.accuracy);
    return;
  }
  if (rank.iterations.size() == 1) rank.times = {}, rank.timed = 0;  // forgets the first
  rank.iterations.add(line.iteration, line.loss, line.times.total);
  metrics.last_iteration =
      std::max(metrics.last_iteration, static_cast<std::size_t>(line.iteration));
  rank.times += line.times;
  ++rank.timed;
}

}  // namespace

observe::Times RankMetrics::mean_times() const {
  return divided(times, timed);
}

observe::Times Metrics::mean_times() const {
  observe::Times sum;
  std::size_t timed = 0;
  for (const auto& [rank, its] : ranks) {
    sum += its.times;
    timed += its.timed;
  }
  return divided(sum, timed);
}

void for_each_metric(const std::filesystem::path& file,
                     const std::function<void(const MetricsLine&)>& take) {
  MetricsLine parsed;
  for_each_line(file, [&](const Line& line) {
    if (line.text.empty()) return;
    const std::string problem = parse_metrics_line(line.text, parsed);
    if (problem.empty()) return take(parsed);
    if (line.whole)
      throw FileError(
          fmt::format("{}: line {}: {}: it was damaged or changed; without this line "
                      "the others can be shown",
                      file.string(), line.number, problem));
  });
}

Metrics read_metrics(const std::filesystem::path& file) {
  Metrics metrics;
  for_each_metric(file, [&](const MetricsLine& line) { take(line, metrics); });
  for (auto& [rank, its] : metrics.ranks) {
    its.iterations.sort();
    its.epochs.sort();
  }
  return metrics;
}

}  // namespace lockstep::report
