#include "report/run_tables.h"

#include "report/methods.h"
#include "run/epochs.h"
#include "run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace lockstep::internal::report {

namespace {

/// Columns in their order, and the fields of `exchanged`.
struct Purpose {
  const char* column;
  const char* field;
  const char* explanation;
};
constexpr Purpose kPurposes[]{
    {"gradients", "gradients", "all gradients of all steps"},
    {"weights", "weights", "initial weights, and weights that a server or another rank updated"},
    {"batch norm", "batch_norm", "statistics of batch norm"},
    {"metrics", "metrics", "losses, times, test results and traces for rank 0"},
    {"votes", "votes", "decisions to stop, and to change the split of a batch"},
    {"agreement", "agreement", "checks that options, data and weights are the same on all ranks"},
    {"checkpoints", "checkpoints", "training state that is collected to be saved, or handed out"},
    {"other", "other", "everything else"}};

/// A row of numbers of bytes, their sum first.
void add_row(std::string name, const run::Fields& bytes, TextTable& table) {
  std::vector<std::string> row{std::move(name), ""};
  std::size_t sum = 0;
  for (const Purpose& purpose : kPurposes) {
    sum += bytes.count(purpose.field);
    row.push_back(fmt::format("{}", bytes.count(purpose.field)));
  }
  row[1] = fmt::format("{}", sum);
  table.rows.push_back(std::move(row));
}

}  // namespace

TextTable epochs_table(const Run& run, std::size_t most_rows) {
  std::map<int, std::vector<run::EpochResults>> ranks;
  for (const int rank : run.metrics.epochs.ranks()) ranks[rank] = run.metrics.epochs.of_rank(rank);
  return run::epochs_table(run.metrics.epochs.of_all(), ranks, most_rows);
}

TextTable exchanged_table(const std::vector<Run>& runs) {
  TextTable table{.title = "Exchanged, in bytes", .columns = {runs.size() == 1 ? "rank" : "run"}};
  if (std::any_of(runs.begin(), runs.end(), [](const Run& run) {
        return run::lacks_exchanged_bytes(run.config.text("transport"));
      }))
    table.title += ", without MPI's own collectives";
  const bool shared = std::all_of(runs.begin(), runs.end(), [](const Run& run) {
    return in_shared_memory(run.config.text("transport"));
  });
  table.columns.emplace_back(
      "all", fmt::format("{} since the run was started or resumed",
                         shared ? "read from and written for other ranks" : "sent by the rank"));
  for (const Purpose& purpose : kPurposes)
    table.columns.emplace_back(purpose.column, purpose.explanation);
  for (const Run& run : runs) {
    if (!run.summary || !run.summary->json().contains("exchanged")) continue;
    if (runs.size() == 1)
      for (const run::Fields& rank : run.summary->list("ranks"))
        add_row(fmt::format("{}", rank.count("rank")), rank.object("exchanged"), table);
    add_row(runs.size() == 1 ? "all" : run.name, run.summary->object("exchanged"), table);
  }
  return table;
}

}  // namespace lockstep::internal::report
