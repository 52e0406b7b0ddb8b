// The table of a comparison.
#include "base/table/quantities.h"
#include "study/compare.h"

#include <fmt/format.h>

namespace lockstep::internal::study {

namespace {

constexpr const char* kDash = "–";

std::string megabytes(const run::RankSummary& rank) {
  // A library may not report its bytes.
  return rank.bytes_per_iteration > 0 ? three_digits(rank.bytes_per_iteration / 1e6) : kDash;
}

std::string weights_column(const ComparedRun& run) {
  if (run.weights_difference < kSameWeights) return "equal";
  return fmt::format("{:.0e} off", run.weights_difference);
}

/// Of the repetitions, if there are several.
std::vector<std::string> range_of(const ComparedRun& run) {
  const run::Spread spread = run.throughput().spread();
  return {three_digits(spread.low), three_digits(spread.high)};
}

std::vector<std::string> row_of(const Comparison& comparison, const ComparedRun& run) {
  const run::Summary& summary = run.summary;
  const auto communication = [&](const std::string& cell) {
    return summary.workers == 1 ? kDash : cell;
  };
  std::vector<std::string> row{run.name, fmt::format("{}", summary.workers),
                               three_digits(summary.images_per_second)};
  const auto append = [&](const std::vector<std::string>& cells) {
    row.insert(row.end(), cells.begin(), cells.end());
  };
  if (run.repetitions.size() > 1) append(range_of(run));
  append({fmt::format("{:.2f}", comparison.speedup(run)),
          three_digits(1e3 * summary.seconds_per_iteration.mean),
          three_digits(1e3 * summary.seconds_per_iteration.p50),
          three_digits(1e3 * summary.seconds_per_iteration.p90),
          fmt::format("{:.2f}", summary.seconds_total), percent_cell(summary.compute_share),
          communication(percent_cell(summary.transfer_share())),
          communication(percent_cell(summary.wait_share)), percent_cell(summary.data_share),
          communication(percent_cell(summary.hidden_communication_share)),
          communication(megabytes(summary.ranks.front())),
          communication(megabytes(summary.ranks.back())), fmt::format("{:.4f}", summary.train_loss),
          percent_cell(summary.train_accuracy), percent_cell(summary.test_accuracy),
          weights_column(run)});
  return row;
}

}  // namespace

TextTable table_of(const Comparison& comparison) {
  TextTable table{
      .title = "Sync methods",
      .columns = {
          "method",
          "workers",
          {"images/s", "over all iterations but the first"},
          {"speed-up", "images/s relative to one worker, which computes the whole batch"},
          {"mean ms", "time of an iteration, without the first: mean"},
          {"median ms", "time of an iteration, without the first: median"},
          {"p90 ms", "time of an iteration, without the first: 90th percentile"},
          "total s",
          {"compute %", "of an iteration's time: forward, backward and optimizer"},
          {"transfer %", "of an iteration's time: moving gradients while nothing is computed"},
          {"waiting %", "of an iteration's time: until the last rank had its gradients"},
          {"data %", "of an iteration's time: waiting for the next batch"},
          {"hidden %", "communication that overlaps with backward"},
          {"MB rank 0", "moved by rank 0 per iteration"},
          {"MB others", "moved by each other rank per iteration"},
          {"loss", "training loss in the last epoch"},
          "train %",
          "test %",
          {"weights", "final weights compared with those of one worker"}}};
  if (const std::size_t repetitions = comparison.alone().repetitions.size(); repetitions > 1) {
    table.columns[2].explanation +=
        fmt::format("; all figures are those of the median of {} repetitions", repetitions);
    table.columns.insert(table.columns.begin() + 3,
                         {{"lowest", "images/s of the slowest repetition"},
                          {"highest", "images/s of the fastest repetition"}});
  }
  for (const ComparedRun& run : comparison.runs) table.rows.push_back(row_of(comparison, run));
  return table;
}

}  // namespace lockstep::internal::study
