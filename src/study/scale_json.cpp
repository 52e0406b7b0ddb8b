#include "run/ranking.h"
#include "run/study_file.h"
#include "study/compare.h"
#include "study/scale_report.h"

#include <fmt/format.h>

namespace lockstep::internal::study {

namespace {

/// null for an empty value.
nlohmann::json json_of(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json run_json(const ScaledRun& run) {
  nlohmann::json json = run::to_json(run.summary);
  json["name"] = run.plan.name;
  json["folder"] = run.plan.name;
  json["batch"] = run.plan.batch;
  json["images"] = run.plan.images;
  json["seconds_per_epoch"] = run.seconds_per_epoch;
  json["speedup"] = run.speedup;
  json["efficiency"] = run.efficiency;
  json["bandwidth_mbs"] = run.bandwidth_mbs();
  json["bandwidth_share"] = json_of(run.bandwidth_share());
  json["bench_bandwidth_mbs"] = json_of(run.bench_mbs());
  json["oversubscribed"] = run.oversubscribed;
  return json;
}

nlohmann::json point_json(const ScaledRun& run, const std::string& method) {
  return {{"workers", run.summary.workers},
          {"batch", run.plan.batch},
          {"method", method},
          {"seconds_per_epoch", run.seconds_per_epoch},
          {"seconds_per_iteration", run.summary.seconds_per_iteration.mean},
          {"speedup", run.speedup},
          {"efficiency", run.efficiency},
          {"compute_seconds", run.compute_seconds()},
          {"communication_seconds", run.communication_seconds()},
          {"transfer_seconds", run.transfer_seconds()},
          {"wait_seconds", run.wait_seconds()},
          {"data_seconds", run.data_seconds()},
          {"hidden_seconds", run.hidden_seconds()},
          {"bandwidth_mbs", run.alone() ? nlohmann::json() : nlohmann::json(run.bandwidth_mbs())},
          {"bandwidth_share", json_of(run.bandwidth_share())},
          {"oversubscribed", run.oversubscribed}};
}

/// The run with one worker is the first point of every method's curve.
nlohmann::json points_of(const Scaling& scaling) {
  nlohmann::json points = nlohmann::json::array();
  for (const ScaledRun& run : scaling.runs) {
    if (!run.alone()) {
      points.push_back(point_json(run, run.summary.method));
      continue;
    }
    for (const std::string& method : scaling.job.methods)
      points.push_back(point_json(run, with_method(scaling.job.job, method).method().method));
  }
  return points;
}

/// The first epoch beside the second, over all runs that have both.
std::string on_first_epochs(const Scaling& scaling) {
  std::vector<double> ratios;
  for (const ScaledRun& run : scaling.runs)
    if (const auto& its = run.epoch_seconds; its.contains(1) && its.contains(2) && its.at(2) > 0)
      ratios.push_back(its.at(1) / its.at(2));
  if (ratios.empty()) return "";
  const run::Spread spread = run::spread_of(ratios);
  const std::string times = ratios.size() == 1
                                ? fmt::format("{:.2f}", spread.low)
                                : fmt::format("{:.2f} to {:.2f}", spread.low, spread.high);
  return fmt::format(
      "The first epoch takes {} times as long as the second. It includes one-time setup: planning "
      "the network, first use of memory, and filling of caches.",
      times);
}

std::vector<run::IterationTimes> times_of(const Scaling& scaling) {
  std::vector<run::IterationTimes> times;
  for (const ScaledRun& run : scaling.runs)
    times.push_back({run.plan.name, run.summary.seconds_per_iteration,
                     run.summary.sync == "local-sgd" ? run.plan.config.local_steps : 1});
  return times;
}

}  // namespace

std::vector<std::string> scale_notes(const Scaling& scaling) {
  const train::TrainConfig& job = scaling.job.job;
  std::vector<std::string> notes{
      scaling.job.weak
          ? fmt::format("Weak scaling: an epoch has {} images per worker.",
                        scaling.runs.front().plan.images /
                            static_cast<std::size_t>(scaling.runs.front().summary.workers))
          : fmt::format("Strong scaling: an epoch has {} images for any number of workers.",
                        scaling.job.images),
      fmt::format("Every worker of every run has {} thread{}.",
                  scaling.runs.front().summary.threads,
                  scaling.runs.front().summary.threads == 1 ? "" : "s")};
  notes.push_back(
      job.iterations > 0
          ? fmt::format(
                "The time of an epoch is extrapolated from {} iterations per run. The first "
                "iteration includes one-time setup and is counted with the median time.",
                job.iterations)
          : "The first iteration includes one-time setup and is counted with the median time.");
  if (scaling.job.hosts)
    notes.push_back(
        fmt::format("The {} hosts with one worker each are network namespaces of this machine, "
                    "with links of {} in each direction to one switch. They share its cores.",
                    scaling.job.hosts->count, scaling.job.hosts->link.text()));
  for (const std::string& note : {on_first_epochs(scaling), on_busy_machine(scaling.job.machine),
                                  run::explain_means(times_of(scaling))})
    if (!note.empty()) notes.push_back(note);
  if (scaling.baseline_workers > 1)
    notes.push_back(
        fmt::format("Speed-up and efficiency are relative to {} workers, because --workers does "
                    "not include 1.",
                    scaling.baseline_workers));
  notes.insert(notes.end(), scaling.left_out.begin(), scaling.left_out.end());
  return notes;
}

nlohmann::json to_json(const Scaling& scaling) {
  nlohmann::json runs = nlohmann::json::array();
  for (const ScaledRun& run : scaling.runs) runs.push_back(run_json(run));
  std::vector<TextTable> tables{run_table(scaling), learning_table(scaling)};
  for (const std::string& method : scaling.job.methods)
    tables.push_back(batch_table(scaling, method));
  nlohmann::json scaled{{"weak", scaling.job.weak}, {"points", points_of(scaling)}};
  if (scaling.job.hosts)
    scaled["hosts"] = {{"count", scaling.job.hosts->count},
                       {"bits_per_second", scaling.job.hosts->link.bits_per_second},
                       {"latency_us", scaling.job.hosts->link.latency.count()}};
  nlohmann::json json = run::to_json({.kind = "scale",
                                      .verdict = scale_verdict(scaling),
                                      .notes = scale_notes(scaling),
                                      .tables = std::move(tables),
                                      .runs = std::move(runs)});
  json["scaling"] = std::move(scaled);
  return json;
}

}  // namespace lockstep::internal::study
