#include "cli/print_summary.h"

#include "base/table/quantities.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/numbers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

namespace {

void print_epochs(const run::Summary& summary) {
  std::map<int, std::vector<run::EpochResults>> ranks;
  for (const run::RankSummary& rank : summary.ranks) ranks[rank.rank] = rank.epoch_results;
  put(stdout, "\n{}\n",
      to_text(
          run::epochs_table(summary.epoch_results, ranks, std::numeric_limits<std::size_t>::max()),
          on_terminal()));
}

/// Training time of each rank, and the test of its own model if there is one.
void print_ranks(const run::Summary& summary, bool tested) {
  TextTable table{.columns = {"rank", "training s", "train loss", "train %"}};
  if (tested) table.columns.insert(table.columns.end(), {"test loss", "test"});
  for (const run::RankSummary& rank : summary.ranks) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {fmt::format("{}", rank.rank), report::fixed(rank.seconds_training, 2),
           report::fixed(rank.train_loss, 4), report::percent(rank.train_accuracy)};
    if (tested) row.insert(row.end(), {report::fixed(rank.test->test_loss, 4), rank.test->text()});
  }
  put(stdout, "\n{}\n", to_text(table, on_terminal()));
}

/// "exchanged by all ranks: 36.9 MB of gradients, 370 kB of weights". Nothing for one worker.
void print_exchanged(const run::Summary& summary) {
  std::vector<std::pair<std::uint64_t, std::string>> parts;
  for (const auto& [purpose, bytes] : summary.exchanged)
    if (bytes > 0) parts.emplace_back(bytes, purpose);
  if (parts.empty()) return;
  std::sort(parts.rbegin(), parts.rend());
  std::vector<std::string> texts;
  for (const auto& [bytes, purpose] : parts)
    texts.push_back(fmt::format("{} of {}", in_bytes(static_cast<double>(bytes)),
                                purpose == "batch_norm" ? "batch-norm statistics" : purpose));
  put(stdout, "exchanged by all ranks{}: {}\n",
      run::lacks_exchanged_bytes(summary.transport) ? ", without MPI's own collectives" : "",
      fmt::join(texts, ", "));
}

}  // namespace

void print_summary(const run::Summary& summary, const std::filesystem::path& run_dir, bool epochs) {
  const bool tested =
      !summary.ranks.empty() &&
      std::all_of(summary.ranks.begin(), summary.ranks.end(),
                  [](const run::RankSummary& rank) { return rank.test.has_value(); });
  if (epochs) print_epochs(summary);
  if (epochs || tested) print_ranks(summary, tested);
  const run::Distribution& seconds = summary.seconds_per_iteration;
  put(stdout, "{} in {}: {} images/s, {} per iteration (mean; median {}, 90th percentile {})\n",
      counted(static_cast<double>(summary.iterations), "iteration"),
      in_seconds(summary.seconds_total), three_digits(summary.images_per_second),
      in_seconds(seconds.mean), in_seconds(seconds.p50), in_seconds(seconds.p90));
  put(stdout, "train loss {:.4f}, accuracy {:.2f} %; test loss {:.4f}, accuracy {}\n",
      summary.train_loss, 100 * summary.train_accuracy, summary.test_loss, summary.text());
  print_exchanged(summary);
  if (!summary.stopped.empty()) put(stdout, "stopped early: {}\n", summary.stopped);
  put(stdout, "{}\n", summary.verdict);
  put(stdout, "weights {}; the run is recorded in {}\n", summary.weights_sha256.substr(0, 16),
      run_dir.string());
}

}  // namespace lockstep::internal::cli
