#include "cli/study_runs.h"

#include "cli/command.h"
#include "cli/run_training.h"
#include "cli/table.h"

#include <fmt/format.h>

namespace lockstep::cli {

train::Summary StudyRuns::run(const train::TrainConfig& config, const std::string& what) {
  const bool silent = view_.json == "-";
  ++started_;
  if (!silent) {
    fmt::print("[{}/{}] {}\n", started_, total_, what);
    std::fflush(stdout);
  }
  return run_training(config, !silent && on_terminal() ? ProgressStyle::bar : ProgressStyle::silent,
                      view_.log_every);
}

void print_table(const study::TextTable& table, std::optional<std::size_t> emphasised) {
  Table text(table.columns);
  for (const auto& row : table.rows) text.add(row);
  if (emphasised) text.emphasise(*emphasised);
  fmt::print("\n{}\n", text.text(on_terminal()));
}

}  // namespace lockstep::cli
