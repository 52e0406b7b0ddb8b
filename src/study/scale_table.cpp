#include "study/scale_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::study {

namespace {

constexpr const char* kNothing = "–";

/// Three digits, as far as there are so many.
std::string number(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  if (value >= 10) return fmt::format("{:.1f}", value);
  return value >= 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.3f}", value);
}

std::string percent(double share) {
  return share < 0.1 ? fmt::format("{:.1f}", 100 * share) : fmt::format("{:.0f}", 100 * share);
}

std::string percent(const std::optional<double>& share) {
  return share ? percent(*share) : kNothing;
}

std::string workers_of(const ScaledRun& run) {
  return fmt::format("{}{}", run.summary.workers, run.oversubscribed ? "*" : "");
}

std::vector<std::string> row_of(const ScaledRun& run) {
  auto communication = [&](double value) { return run.alone() ? kNothing : number(value); };
  return {workers_of(run),
          std::to_string(run.plan.batch),
          number(run.seconds_per_epoch),
          number(1000 * run.summary.seconds_per_iteration.p50),
          fmt::format("{:.2f}", run.speedup),
          percent(run.efficiency),
          number(run.compute_seconds()),
          communication(run.communication_seconds()),
          communication(run.exposed_seconds()),
          communication(run.hidden_seconds()),
          communication(run.wait_seconds()),
          communication(run.bandwidth_mbs()),
          percent(run.bandwidth_share())};
}

std::map<std::string, std::string> explanations(const Scaling& scaling) {
  const bool one = scaling.baseline_workers == 1;
  return {
      {"workers", "a star marks worlds with more threads than cores: they measure overhead"},
      {"batch", "images of one worker in a step"},
      {"s/epoch", "the first iteration counts like a usual one"},
      {"ms/iteration", "median, without the first"},
      {"speed-up",
       fmt::format("images a second, relative to {} of the same batch",
                   one ? "one worker" : fmt::format("the {} workers", scaling.baseline_workers))},
      {"efficiency %", "speed-up relative to what so many workers could have at best"},
      {"compute s", "of an epoch: forward, backward and update, the mean over the workers"},
      {"comm s", "of an epoch: inside collectives, waiting for the slowest worker included"},
      {"exposed s", "of an epoch: spent on equal gradients after backward"},
      {"hidden s", "of comm s: while backward went on"},
      {"wait s", "of comm s: until the slowest worker had come"},
      {"MB/s", "bytes that a worker moves, the mean over the workers, by comm s"},
      {"of bench %", "MB/s relative to bench, which all-reduces the same and does nothing else"}};
}

/// nullptr for one that was left out.
const ScaledRun* find(const Scaling& scaling, int workers, std::size_t batch,
                      const std::string& method) {
  for (const ScaledRun& run : scaling.runs)
    if (run.summary.workers == workers && run.plan.batch == batch &&
        (run.alone() || run.plan.method == method))
      return &run;
  return nullptr;
}

std::vector<std::string> batch_row(const Scaling& scaling, int workers, const std::string& method) {
  std::vector<std::string> row{std::to_string(workers)}, seconds, bandwidth;
  for (std::size_t batch : scaling.job.batches) {
    const ScaledRun* run = find(scaling, workers, batch, method);
    if (run) row.front() = workers_of(*run);
    row.push_back(run ? fmt::format("{} s, {:.2f}×", number(run->seconds_per_epoch), run->speedup)
                      : kNothing);
    const bool communicates = run && !run->alone();
    seconds.push_back(communicates ? number(run->communication_seconds()) : kNothing);
    bandwidth.push_back(communicates ? number(run->bandwidth_mbs()) : kNothing);
  }
  row.push_back(fmt::format("{}", fmt::join(seconds, " / ")));
  row.push_back(fmt::format("{}", fmt::join(bandwidth, " / ")));
  return row;
}

}  // namespace

TextTable run_table(const Scaling& scaling) {
  TextTable table{
      .title = scaling.job.weak ? "Weak scaling" : "Strong scaling",
      .columns = {"workers", "batch", "s/epoch", "ms/iteration", "speed-up", "efficiency %",
                  "compute s", "comm s", "exposed s", "hidden s", "wait s", "MB/s", "of bench %"},
      .rows = {},
      .explain = explanations(scaling)};
  for (const ScaledRun& run : scaling.runs) table.rows.push_back(row_of(run));
  if (scaling.job.methods.size() == 1) return table;
  table.columns.insert(table.columns.begin(), "method");
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    table.rows[i].insert(table.rows[i].begin(),
                         scaling.runs[i].alone() ? "alone" : scaling.runs[i].summary.method);
  return table;
}

TextTable batch_table(const Scaling& scaling, const std::string& method) {
  TextTable table{"Time and speed-up by batch", {"workers"}, {}, {}};
  if (scaling.job.methods.size() > 1) table.title += ": " + method;
  for (std::size_t batch : scaling.job.batches)
    table.columns.push_back(fmt::format("{} a worker", batch));
  const std::string batches = fmt::format("{}", fmt::join(scaling.job.batches, " / "));
  table.columns.push_back(fmt::format("comm s ({})", batches));
  table.columns.push_back(fmt::format("MB/s ({})", batches));
  std::vector<int> worlds = scaling.job.workers;
  std::sort(worlds.begin(), worlds.end());
  for (int workers : worlds) table.rows.push_back(batch_row(scaling, workers, method));
  return table;
}

}  // namespace lockstep::study
