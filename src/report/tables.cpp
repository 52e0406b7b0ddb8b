#include "report/tables.h"

#include <lockstep/error.h>

#include "base/table/export.h"
#include "report/methods.h"
#include "report/numbers.h"
#include "report/post_mortem.h"
#include "report/run_tables.h"
#include "run/post_mortem_file.h"
#include "run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <type_traits>

namespace lockstep::internal::report {

namespace {

using nlohmann::json;

constexpr double kMega = 1e6;

/// Explanations of columns, by column name.
const std::map<std::string, std::string> kExplained{
    {"images/s", "over all iterations but the first"},
    {"mean ms", "time of an iteration, without the first: mean"},
    {"median ms", "time of an iteration, without the first: median"},
    {"p90 ms", "time of an iteration, without the first: 90th percentile"},
    {"compute %", "of an iteration's time: forward, backward and optimizer"},
    {"transfer %", "of an iteration's time: moving gradients while nothing is computed"},
    {"waiting %", "of an iteration's time: until the last rank had its gradients"},
    {"data %", "of an iteration's time: waiting for the next batch"},
    {"hidden %", "communication that overlaps with backward, in percent of an iteration's time"},
    {"MB/iteration", "sent by the rank"},
    {"MB rank 0", "sent by rank 0 per iteration"},
    {"MB others", "sent by each other rank per iteration"},
    {"training s", "of all iterations of the run, also before it was resumed"},
    {"train loss", "in the last epoch"},
    {"train %", "accuracy in the last epoch"},
    {"test", "images that the rank's own weights and batch-norm statistics classify correctly"},
    {"weights",
     "first digits of the SHA-256 of the final weights: if equal, the weights are bit-identical"}};

std::vector<TableColumn> explained(std::initializer_list<const char*> names) {
  std::vector<TableColumn> columns;
  for (const char* name : names) {
    const auto found = kExplained.find(name);
    columns.emplace_back(name, found == kExplained.end() ? "" : found->second);
  }
  return columns;
}

std::string megabytes(Number bytes) {
  return bytes && *bytes > 0 ? fixed(*bytes / kMega, 3) : "–";  // 0 from a library: not known
}

std::vector<std::string> percentages_of(const run::Fields& part) {
  const Number exposed = part.number("exposed_communication_share");
  const Number waiting = part.number("wait_share");
  const Number transfer =
      exposed && waiting ? Number(std::max(0.0, *exposed - *waiting)) : Number();
  return {percent(part.number("compute_share")), percent(transfer), percent(waiting),
          percent(part.number("data_share")), percent(part.number("hidden_communication_share"))};
}

template <typename T>
void append(std::vector<T>& all, const std::vector<std::type_identity_t<T>>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<std::string> row_of(const Run& run) {
  std::vector<std::string> cells{run.name, run.method(), fmt::format("{}", run.workers())};
  if (!run.summary) {
    const observe::Times times = run.metrics.mean_times();
    append(cells, {"–", milliseconds(times.total)});
    cells.insert(cells.end(), 13, "–");
    cells.emplace_back("incomplete");
    return cells;
  }
  const run::Fields& summary = *run.summary;
  const std::vector<run::Fields> ranks = summary.list("ranks");
  const run::Fields seconds = summary.object("seconds_per_iteration");
  append(cells, {fixed(summary.number("images_per_second"), 0),
                 milliseconds(seconds.number("mean")), milliseconds(seconds.number("p50")),
                 milliseconds(seconds.number("p90")), fixed(summary.number("seconds_total"), 2)});
  append(cells, percentages_of(summary));
  append(cells,
         {ranks.empty() ? "–" : megabytes(ranks.front().number("bytes_per_iteration")),
          ranks.size() < 2 ? "–" : megabytes(ranks.back().number("bytes_per_iteration")),
          fixed(summary.number("train_loss"), 4), percent(summary.number("train_accuracy")),
          percent(summary.number("test_accuracy")), summary.text("weights_sha256").substr(0, 8)});
  return cells;
}

/// "1050/10000 (10.5 %)"; older runs have the accuracy only.
std::string test_text(const run::Fields& part) {
  if (part.count("test_images") == 0) return percent(part.number("test_accuracy"));
  return run::TestResults{.test_accuracy = part.number("test_accuracy").value_or(0),
                          .test_correct = part.count("test_correct"),
                          .test_images = part.count("test_images")}
      .text();
}

std::vector<std::string> rank_row(const run::Fields& rank) {
  std::vector<std::string> cells{fmt::format("{}", rank.count("rank")),
                                 milliseconds(rank.number("seconds_per_iteration")),
                                 fixed(rank.number("seconds_training"), 2)};
  append(cells, percentages_of(rank));
  append(cells, {megabytes(rank.number("bytes_per_iteration")), fixed(rank.number("train_loss"), 4),
                 percent(rank.number("train_accuracy"))});
  return cells;
}

/// The fields of a rank as in a summary, without the bytes, which metrics.jsonl does not have.
run::Fields rank_of(int number, const RankMetrics& metrics) {
  const observe::Times times = metrics.mean_times();
  const auto fraction = [&](double part) { return times.total > 0 ? part / times.total : 0; };
  const bool epochs = metrics.epochs.size() > 0;
  const auto last = [&](const std::vector<double>& values) {
    return epochs ? json(values.back()) : json();
  };
  return {json{{"rank", number},
               {"seconds_per_iteration", times.total},
               {"compute_share", fraction(times.forward + times.backward + times.optimizer)},
               {"communication_share", fraction(times.communication)},
               {"hidden_communication_share", fraction(times.hidden)},
               {"exposed_communication_share", fraction(times.exposed)},
               {"wait_share", fraction(times.wait)},
               {"data_share", fraction(times.data)},
               {"train_loss", last(metrics.epochs.first)},
               {"train_accuracy", last(metrics.epochs.second)}},
          "metrics.jsonl"};
}

/// One row per run.
TextTable runs_table(const std::vector<Run>& runs) {
  TextTable table{.title = "Runs",
                  .columns = explained({"run", "method", "workers", "images/s", "mean ms",
                                        "median ms", "p90 ms", "total s", "compute %", "transfer %",
                                        "waiting %", "data %", "hidden %", "MB rank 0", "MB others",
                                        "train loss", "train %", "test %", "weights"})};
  for (const Run& run : runs) table.rows.push_back(row_of(run));
  return table;
}

/// One row per rank, from the summary, or from the metrics of an incomplete run. A report of
/// several runs has those with several workers, with a first column for their names.
TextTable ranks_table(const Source& source) {
  const bool several = source.kind != "train";
  const char* name_column = source.kind == "compare" ? "method" : "run";
  TextTable table{
      .title = several ? fmt::format("Ranks by {}", name_column) : "Ranks",
      .columns = explained({"rank", "mean ms", "training s", "compute %", "transfer %", "waiting %",
                            "data %", "hidden %", "MB/iteration", "train loss", "train %"})};
  const bool shared = std::all_of(source.runs.begin(), source.runs.end(), [](const Run& run) {
    return in_shared_memory(run.config.text("transport"));
  });
  for (TableColumn& column : table.columns)
    if (shared && column.name == "MB/iteration")
      column.explanation = "read from and written for other ranks";
  std::vector<std::pair<std::string, run::Fields>> ranks;  // by name of the run
  for (const Run& run : source.runs) {
    std::vector<run::Fields> its;
    if (run.summary)
      its = run.summary->list("ranks");
    else
      for (const auto& [number, metrics] : run.metrics.ranks)
        its.push_back(rank_of(number, metrics));
    if (several && its.size() < 2) continue;
    for (run::Fields& rank : its) ranks.emplace_back(run.name, std::move(rank));
  }
  const bool tested = std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) {
    return rank.second.count("test_images") > 0;
  });
  if (tested) append(table.columns, explained({"test loss", "test"}));
  if (several) table.columns.insert(table.columns.begin(), name_column);
  for (const auto& [name, rank] : ranks) {
    std::vector<std::string> row = rank_row(rank);
    if (tested) append(row, {fixed(rank.number("test_loss"), 4), test_text(rank)});
    if (several) row.insert(row.begin(), name);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The figures of one run over all ranks. REQUIRES: the run has a summary.
TextTable summary_table(const Run& run) {
  const run::Fields& it = *run.summary;
  const run::Fields seconds = it.object("seconds_per_iteration");
  return {.title = "Summary",
          .columns = explained({"figure", "value"}),
          .rows = {{"iterations", fmt::format("{}", it.count("iterations"))},
                   {"seconds, total", fixed(it.number("seconds_total"), 2)},
                   {"seconds per epoch", fixed(it.number("seconds_per_epoch"), 3)},
                   {"images/s", fixed(it.number("images_per_second"), 0)},
                   {"ms/iteration, mean", milliseconds(seconds.number("mean"))},
                   {"ms/iteration, median", milliseconds(seconds.number("p50"))},
                   {"ms/iteration, 90th percentile", milliseconds(seconds.number("p90"))},
                   {"MB/s in collectives", fixed(it.number("bandwidth_mbs"), 1)},
                   {"train loss", fixed(it.number("train_loss"), 4)},
                   {"train accuracy %", percent(it.number("train_accuracy"))},
                   {"test loss", fixed(it.number("test_loss"), 4)},
                   {"test accuracy", test_text(it)},
                   {"peak memory of a worker, MB", megabytes(it.number("peak_rss_bytes"))},
                   {"weights, SHA-256", it.text("weights_sha256")}}};
}

}  // namespace

std::vector<TextTable> tables_of(const Source& source, std::size_t most_epoch_rows) {
  std::vector<TextTable> tables = source.tables;
  if (source.kind != "train" && tables.empty()) tables.push_back(runs_table(source.runs));
  tables.push_back(ranks_table(source));
  if (source.kind == "train") {
    const Run& run = source.runs.front();
    if (run.summary) tables.push_back(summary_table(run));
    tables.push_back(epochs_table(run, most_epoch_rows));
  }
  tables.push_back(exchanged_table(source.runs));
  std::erase_if(tables, [](const TextTable& table) { return table.rows.empty(); });
  return tables;
}

json page_tables(const std::vector<TextTable>& tables) {
  json shown = json::array();
  for (const TextTable& table : tables) {
    shown.push_back(table);
    const TextTable clean = one_number_per_cell(table);
    if (clean.column_names() != table.column_names() || clean.rows != table.rows)
      shown.back()["clean"] = {{"columns", clean.column_names()}, {"rows", clean.rows}};
  }
  return shown;
}

std::vector<TextTable> all_tables_of(const Source& source) {
  std::vector<TextTable> tables = tables_of(source, std::numeric_limits<std::size_t>::max());
  for (const Run& run : source.runs) {
    const std::filesystem::path file = run.path / run::kPostMortemFile;
    if (!std::filesystem::exists(file)) continue;
    try {
      tables.push_back(post_mortem_table(file));
    } catch (const FileError& error) {  // the other tables are still useful
      tables.push_back({.title = "Post-mortem", .columns = {"error"}, .rows = {{error.what()}}});
    }
    if (source.runs.size() > 1) tables.back().title += ": " + run.name;
  }
  return tables;
}

}  // namespace lockstep::internal::report
