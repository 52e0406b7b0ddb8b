#include "report/metrics.h"

#include "run/metrics_file.h"

#include <algorithm>

namespace lockstep::internal::report {

namespace {

observe::Times divided(observe::Times times, std::size_t count) {
  for (const auto& [name, part] : observe::kTimes)
    times.*part /= static_cast<double>(std::max<std::size_t>(1, count));
  return times;
}

void take(const run::MetricsLine& line, Metrics& metrics) {
  if (line.kind == "test") {
    metrics.test = TestScore{static_cast<std::size_t>(line.iteration), line.loss, line.accuracy,
                             line.samples > 0 ? static_cast<std::size_t>(line.samples) : 0};
    return;
  }
  if (line.kind != "iteration" && line.kind != "epoch") return;
  RankMetrics& rank = metrics.ranks[line.rank];
  if (line.kind == "epoch") {
    rank.epochs.add(line.epoch, line.loss, line.accuracy);
    if (line.samples > 0) metrics.epochs.add(line.rank, run::record_of(line));
    return;
  }
  if (rank.iterations.size() == 1) rank.times = {}, rank.timed = 0;  // drops the first
  rank.iterations.add(line.iteration, line.loss, line.times.total);
  metrics.last_iteration =
      std::max(metrics.last_iteration, static_cast<std::size_t>(line.iteration));
  rank.times += line.times;
  ++rank.timed;
}

void sort(Metrics& metrics) {
  for (auto& [rank, its] : metrics.ranks) {
    its.iterations.sort();
    its.epochs.sort();
  }
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

Metrics read_metrics(const std::filesystem::path& file) {
  Metrics metrics;
  run::for_each_metric(file, [&](const run::MetricsLine& line) { take(line, metrics); });
  sort(metrics);
  return metrics;
}

const Metrics& FollowedMetrics::read() {
  run::MetricsLine parsed;
  const bool changed = lines_.read([this] { metrics_ = {}; },
                                   [&](std::string_view line) {
                                     if (run::parse_metrics_line(line, parsed).empty())
                                       take(parsed, metrics_);
                                   });
  if (changed) sort(metrics_);
  return metrics_;
}

}  // namespace lockstep::internal::report
