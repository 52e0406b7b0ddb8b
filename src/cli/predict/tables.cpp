#include "cli/predict/tables.h"

#include "base/table/quantities.h"
#include "base/text.h"
#include "comm/algorithms.h"
#include "predict/bounds.h"

#include <fmt/format.h>

#include <set>

namespace lockstep::internal::cli {

using predict::Prediction;

namespace {

std::string milliseconds(double seconds) {
  return three_digits(1e3 * seconds);
}

std::string bucket_of(const Prediction& one) {
  return one.plan.in_buckets() ? fmt::format("{:g}", one.plan.bucket_bytes / (1 << 20)) : "-";
}

/// Use of the link, lower bound, and naive formula. Empty if messages use no link, as with `direct`
/// and between ranks of one host. The ranks of a host together need to send no more over its link
/// than a single one.
std::vector<std::string> link_cells(Algorithm algorithm, double bytes,
                                    const comm::RecordedWorld& world, double seconds,
                                    const predict::NetworkModel& network) {
  if (algorithm == Algorithm::direct || predict::in_memory(world, network)) return {"-", "-", "-"};
  const int links = world.hosts() > 1 ? world.hosts() : world.size;
  return {percent_cell(predict::utilisation(bytes, links, seconds, network)),
          fmt::format("{:.1f}", 1e6 * predict::lower_bound(bytes, links, network)),
          fmt::format("{:.1f}", 1e6 * predict::naive_seconds(bytes, world.size, network))};
}

/// If an operation has a single algorithm, it is named `auto`.
std::vector<Algorithm> algorithms_in(comm::Operation operation, const comm::RecordedWorld& world) {
  auto algorithms = comm::algorithms_of(operation, predict::offers_of(world));
  if (algorithms.empty()) algorithms.push_back(Algorithm::automatic);
  return algorithms;
}

}  // namespace

TextTable iteration_table(const predict::Scaling& scaling) {
  TextTable table{.title = "Iterations",
                  .columns = {"method",
                              "workers",
                              {"by", "closed-form formula, or simulation of every message"},
                              "ms",
                              "communication ms",
                              {"exposed ms", "communication that prolongs the iteration"},
                              {"bucket MiB", "the fastest of --bucket-mb"},
                              {"speed-up", "images per second, relative to one worker"},
                              {"efficiency %", "speed-up per worker"}}};
  for (const Prediction& one : scaling.predictions)
    table.rows.push_back({one.plan.name, std::to_string(one.workers),
                          one.simulated ? "simulation" : "formula", milliseconds(one.seconds()),
                          milliseconds(one.forecast.communication),
                          milliseconds(one.forecast.exposed), bucket_of(one),
                          three_digits(one.speedup()), percent_cell(one.efficiency())});
  return table;
}

TextTable best_table(const predict::Scaling& scaling) {
  TextTable table{.title = "Fastest method by workers",
                  .columns = {"workers",
                              "method",
                              "bucket MiB",
                              "ms",
                              "speed-up",
                              "efficiency %",
                              {"each adds %", "speed-up per worker added since the row above"}}};
  int workers = 1;
  double speedup = 1;
  const std::vector<Prediction> best = predict::best_by_workers(scaling);
  for (const Prediction& one : best) {
    const double added =
        one.workers > workers ? (one.speedup() - speedup) / (one.workers - workers) : 1;
    table.rows.push_back({std::to_string(one.workers), one.workers == 1 ? "alone" : one.plan.name,
                          bucket_of(one), milliseconds(one.seconds()), three_digits(one.speedup()),
                          percent_cell(one.efficiency()), percent_cell(added)});
    workers = one.workers;
    speedup = one.speedup();
  }
  return table;
}

TextTable crossing_table(const predict::Scaling& scaling, Crossings which) {
  TextTable table{.title = "Crossovers between methods",
                  .columns = {"method", "overtakes", "slower at", "faster from"}};
  std::set<std::string> best;
  for (const Prediction& one : predict::best_by_workers(scaling)) best.insert(one.plan.name);
  for (const predict::Crossing& one : predict::crossings(scaling))
    if (which == Crossings::all || best.contains(one.method) || best.contains(one.than))
      table.rows.push_back(
          {one.method, one.than, std::to_string(one.below), std::to_string(one.from)});
  return table;
}

TextTable collective_table(comm::Operation operation, const predict::NetworkModel& network,
                           int cores, const std::vector<comm::RecordedWorld>& worlds,
                           const std::vector<double>& sizes) {
  const bool all_reduce = operation == comm::Operation::all_reduce;
  TextTable table{.title = std::string(comm::name_of(operation)),
                  .columns = {"workers", "bytes", "algorithm", "us"}};
  if (all_reduce) {
    for (const char* more : {"link used %", "lower bound us"}) table.columns.emplace_back(more);
    table.columns.emplace_back("naive us", predict::naive_misleads());
  }
  for (const comm::RecordedWorld& world : worlds) {
    if (world.size == 1) continue;
    for (double bytes : sizes)
      for (Algorithm algorithm : algorithms_in(operation, world)) {
        const double seconds =
            cost_of({operation, algorithm, bytes}, world, network).seconds(network, cores);
        table.rows.push_back(
            {std::to_string(world.size), format_bytes(static_cast<std::uint64_t>(bytes)),
             std::string(name_of(algorithm)), fmt::format("{:.1f}", 1e6 * seconds)});
        if (!all_reduce) continue;
        for (std::string& cell : link_cells(algorithm, bytes, world, seconds, network))
          table.rows.back().push_back(std::move(cell));
      }
  }
  return table;
}

TextTable residual_table(const predict::Fit& fit) {
  TextTable table{.title = fit.network.name,
                  .columns = {"operation", "algorithm", "workers", "bytes", "measured us",
                              "model us", "error %"}};
  for (const predict::Measurement& one : fit.measurements)
    table.rows.push_back(
        {std::string(comm::name_of(one.collective.operation)),
         std::string(name_of(one.collective.algorithm)), std::to_string(one.world.size),
         format_bytes(static_cast<std::uint64_t>(one.collective.bytes)),
         fmt::format("{:.1f}", 1e6 * one.seconds), fmt::format("{:.1f}", 1e6 * fit.predicted(one)),
         percent_cell(fit.error(one))});
  return table;
}

std::string text_of(const predict::NetworkModel& network) {
  std::string text = fmt::format(
      "{}: alpha {} us, beta {} ns per byte ({} GB/s), gamma {} ns per byte, "
      "agreement {} us and {} us per peer, meeting {} us, copy {} ns per byte",
      network.name, three_digits(1e6 * network.latency), three_digits(1e9 * network.per_byte),
      three_digits(network.per_byte > 0 ? 1e-9 / network.per_byte : 0),
      three_digits(1e9 * network.per_added), three_digits(1e6 * network.agreement),
      three_digits(1e6 * network.per_peer), three_digits(1e6 * network.meeting),
      three_digits(1e9 * network.per_copied));
  if (network.by_cores())
    text += fmt::format("; a message keeps {} core{} busy", network.message_cores,
                        network.message_cores == 1 ? "" : "s");
  if (network.far > 0)
    text += fmt::format("; bytes outside the {:.0f} MB of caches take {} times as long",
                        1e-6 * network.cache, three_digits(1 + network.far));
  return text;
}

std::vector<std::string> notes_of(const predict::Scaling& scaling) {
  const predict::ScalingJob& job = scaling.job;
  std::vector<std::string> notes{
      fmt::format("In the recorded run, one worker takes {} for {} images with {}, {} of it in "
                  "backward; its "
                  "gradients are {}.",
                  in_seconds(job.run.seconds()), job.run.batch, job.run.model,
                  in_seconds(job.run.backward), in_bytes(job.run.bytes())),
      "Every worker has a batch of the same size: twice the workers process twice the images per "
      "iteration.",
      "Network model: " + text_of(job.network) + "."};
  if (job.cores > 0)
    notes.push_back(fmt::format("All workers run on {}: more threads than cores take turns.",
                                counted(job.cores, "core")));
  if (job.per_host > 1)
    notes.push_back(fmt::format(
        "{} ranks are on each host and use its memory and its link together.", job.per_host));
  if (job.slow_rank > 1 || job.jitter > 0)
    notes.push_back(
        fmt::format("One rank takes {:g} times as long to compute, and computing times vary by "
                    "{:g} %: all ranks wait for the slowest.",
                    job.slow_rank, 100 * job.jitter));
  return notes;
}

}  // namespace lockstep::internal::cli
