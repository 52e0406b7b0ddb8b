#include "train/elastic/run_state.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "comm/purpose.h"
#include "run/metrics_file.h"
#include "run/run_folder.h"
#include "sync/broadcast_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lockstep::internal::train {

namespace {

void broadcast_numbers(Group& group, std::vector<double>& numbers, int root) {
  std::vector<std::int64_t> count{static_cast<std::int64_t>(numbers.size())};
  group.broadcast(count, root);
  numbers.resize(static_cast<std::size_t>(count[0]));
  group.broadcast(numbers, root);
}

/// Writes the newest iterations to metrics.jsonl, in which rank 0 may not have written them.
void write_rows(const TrainConfig& config, const RunState& state) {
  if (state.rows.empty()) return;
  const std::filesystem::path file = config.run_dir / "metrics.jsonl";
  const auto first = static_cast<std::size_t>(state.rows.front().front().iteration);
  std::string lines = run::lines_until(file, state.checkpoint.iteration,
                                       std::numeric_limits<std::size_t>::max(), first);
  for (const Row& row : state.rows)
    for (std::size_t rank = 0; rank < row.size(); ++rank)
      lines += run::metrics_line("iteration", static_cast<int>(rank), row[rank]).dump() + "\n";
  write_file(file, lines);
}

/// None if a worker that hangs, and that the run continued without, still has the lock: it keeps
/// other runs out just as well.
std::optional<FolderLock> lock_if_free(const std::filesystem::path& folder) {
  try {
    return run::lock_run_folder(folder);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

}  // namespace

void broadcast_newest_state(Group& group, const TrainConfig& config,
                            std::optional<RunState>& state) {
  const comm::PurposeMark mark(comm::Purpose::checkpoints);
  const double mine = state ? static_cast<double>(state->checkpoint.iteration) : -1;
  std::vector<double> steps(static_cast<std::size_t>(group.size()));
  group.all_gather(std::vector<double>{mine}, steps);
  const auto furthest = std::max_element(steps.begin(), steps.end());
  if (*std::min_element(steps.begin(), steps.end()) == *furthest) return;
  const int root = static_cast<int>(furthest - steps.begin());
  std::string text;
  std::vector<double> rows;
  if (group.rank() == root) {
    text = format_checkpoint(config, state->checkpoint, kRunStateSource);
    rows = to_numbers(state->rows);
  }
  sync::broadcast_text(group, text, root);
  broadcast_numbers(group, rows, root);
  if (mine < *furthest)
    state = RunState{parse_checkpoint(text, kRunStateSource, config), rows_from(rows)};
}

std::string save_run_state(const TrainConfig& config, const std::optional<RunState>& state) {
  if (!state || config.run_dir.empty()) return "";
  const auto lock = lock_if_free(config.run_dir);
  try {
    write_rows(config, *state);
    const auto file = write_checkpoint(config, state->checkpoint);
    return fmt::format(
        ". The state is saved in {}: to resume, give the same command again with --resume "
        "--run-dir {}",
        file.string(), config.run_dir.string());
  } catch (const FileError& error) {
    return fmt::format(". Its state could not be saved: {}", error.what());
  }
}

}  // namespace lockstep::internal::train
