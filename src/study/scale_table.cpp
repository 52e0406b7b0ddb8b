#include "base/table/quantities.h"
#include "study/scale_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::study {

namespace {

constexpr const char* kNothing = "–";

std::string percent(double fraction) {
  return fmt::format("{:.{}f}", 100 * fraction, fraction < 0.1 ? 1 : 0);
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? percent(*fraction) : kNothing;
}

std::string workers_of(const ScaledRun& run) {
  return fmt::format("{}{}", run.summary.workers, run.oversubscribed ? "*" : "");
}

std::vector<std::string> row_of(const ScaledRun& run) {
  auto communication = [&](double value) { return run.alone() ? kNothing : three_digits(value); };
  return {workers_of(run),
          std::to_string(run.plan.batch),
          three_digits(static_cast<double>(run.plan.images) / run.seconds_per_epoch),
          three_digits(run.seconds_per_epoch),
          three_digits(1e3 * run.summary.seconds_per_iteration.mean),
          three_digits(1e3 * run.summary.seconds_per_iteration.p50),
          three_digits(1e3 * run.summary.seconds_per_iteration.p90),
          fmt::format("{:.2f}", run.speedup),
          percent(run.efficiency),
          three_digits(run.compute_seconds()),
          communication(run.transfer_seconds()),
          communication(run.wait_seconds()),
          three_digits(run.data_seconds()),
          communication(run.communication_seconds()),
          communication(run.hidden_seconds()),
          communication(run.bandwidth_mbs()),
          percent(run.bandwidth_share())};
}

std::vector<TableColumn> run_columns(const Scaling& scaling) {
  const bool one = scaling.baseline_workers == 1;
  return {{"workers", "a star marks runs with more threads than cores: they measure overhead"},
          {"batch", "images per worker and step"},
          {"images/s", "images of an epoch divided by s/epoch"},
          {"s/epoch", "the first iteration is counted with the median time"},
          {"mean ms", "time of an iteration, without the first: mean"},
          {"median ms", "time of an iteration, without the first: median"},
          {"p90 ms", "time of an iteration, without the first: 90th percentile"},
          {"speed-up",
           fmt::format("images per second, relative to {} with the same batch",
                       one ? "one worker" : fmt::format("{} workers", scaling.baseline_workers))},
          {"efficiency %", "speed-up as a percentage of the ideal for this number of workers"},
          {"compute s", "per epoch: forward, backward and optimizer, mean over the workers"},
          {"transfer s", "per epoch: moving gradients while nothing is computed"},
          {"waiting s", "per epoch: until the slowest worker had its gradients"},
          {"data s", "per epoch: waiting for the next batch"},
          {"comm s", "per epoch: inside collectives, also during backward and while waiting"},
          {"hidden s", "part of comm s that overlaps with backward"},
          {"MB/s", "bytes moved by a worker divided by comm s, mean over the workers"},
          {"of bench %",
           "MB/s relative to bench, which all-reduces the same arrays without computing"}};
}

/// nullptr for a run that was skipped.
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
    row.push_back(
        run ? fmt::format("{} s, {:.2f}×", three_digits(run->seconds_per_epoch), run->speedup)
            : kNothing);
    const bool communicates = run && !run->alone();
    seconds.push_back(communicates ? three_digits(run->communication_seconds()) : kNothing);
    bandwidth.push_back(communicates ? three_digits(run->bandwidth_mbs()) : kNothing);
  }
  row.push_back(fmt::format("{}", fmt::join(seconds, " / ")));
  row.push_back(fmt::format("{}", fmt::join(bandwidth, " / ")));
  return row;
}

/// Adds a column of the methods in front, if there are several.
TextTable with_methods(const Scaling& scaling, TextTable table) {
  if (scaling.job.methods.size() == 1) return table;
  table.columns.insert(table.columns.begin(), "method");
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    table.rows[i].insert(table.rows[i].begin(),
                         scaling.runs[i].alone() ? "alone" : scaling.runs[i].summary.method);
  return table;
}

}  // namespace

TextTable run_table(const Scaling& scaling) {
  TextTable table{.title = scaling.job.weak ? "Weak scaling" : "Strong scaling",
                  .columns = run_columns(scaling)};
  for (const ScaledRun& run : scaling.runs) table.rows.push_back(row_of(run));
  return with_methods(scaling, std::move(table));
}

TextTable learning_table(const Scaling& scaling) {
  TextTable table{.title = "Learning and first epochs",
                  .columns = {"workers",
                              {"batch", "images per worker and step"},
                              {"epoch 1 s",
                               "seconds of the first epoch, which includes one-time "
                               "setup: mean over the workers"},
                              {"epoch 2 s", "seconds of the second epoch"},
                              {"loss", "training loss in the last epoch"},
                              {"train %", "accuracy in the last epoch"},
                              "test %"}};
  const auto seconds = [](const ScaledRun& run, std::size_t epoch) {
    const auto found = run.epoch_seconds.find(epoch);
    return found == run.epoch_seconds.end() ? kNothing : three_digits(found->second);
  };
  for (const ScaledRun& run : scaling.runs)
    table.rows.push_back({workers_of(run), std::to_string(run.plan.batch), seconds(run, 1),
                          seconds(run, 2), fmt::format("{:.4f}", run.summary.train_loss),
                          percent_cell(run.summary.train_accuracy),
                          percent_cell(run.summary.test_accuracy)});
  return with_methods(scaling, std::move(table));
}

TextTable batch_table(const Scaling& scaling, const std::string& method) {
  TextTable table{.title = "Time and speed-up by batch", .columns = {"workers"}};
  if (scaling.job.methods.size() > 1) table.title += ": " + method;
  for (std::size_t batch : scaling.job.batches)
    table.columns.emplace_back(fmt::format("{} per worker", batch));
  const std::string batches = fmt::format("{}", fmt::join(scaling.job.batches, " / "));
  table.columns.emplace_back(fmt::format("comm s ({})", batches));
  table.columns.emplace_back(fmt::format("MB/s ({})", batches));
  std::vector<int> worlds = scaling.job.workers;
  std::sort(worlds.begin(), worlds.end());
  for (int workers : worlds) table.rows.push_back(batch_row(scaling, workers, method));
  return table;
}

}  // namespace lockstep::internal::study
