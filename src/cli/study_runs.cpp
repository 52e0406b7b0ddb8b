#include "cli/study_runs.h"

#include "base/files.h"
#include "cli/command.h"
#include "cli/leave_report.h"
#include "cli/table.h"
#include "train/origin.h"

#include <fmt/format.h>

namespace lockstep::cli {

namespace {

void remove_earlier_study(const std::filesystem::path& folder) {
  std::error_code none;
  for (const char* stale : {"summary.json", "report.html"})
    std::filesystem::remove(folder / stale, none);
}

}  // namespace

train::Summary StudyRuns::run(const train::TrainConfig& config, const std::string& what) {
  const bool silent = view_.json == "-";
  const std::filesystem::path study = config.run_dir.parent_path();
  if (++started_ == 1) remove_earlier_study(study);
  if (!silent) {
    fmt::print("[{}/{}] {}\n", started_, total_, what);
    std::fflush(stdout);
  }
  try {
    train::Summary summary =
        run_training(config, !silent && on_terminal() ? ProgressStyle::bar : ProgressStyle::silent,
                     view_.log_every, stdout, OnInterrupt::end, hosts_);
    leave_tensorboard(config.run_dir, view_.tensorboard);
    return summary;
  } catch (...) {
    leave_report(study, !silent);
    throw;
  }
}

void print_table(const study::TextTable& table, std::optional<std::size_t> emphasised) {
  Table text(table.columns);
  for (const auto& row : table.rows) text.add(row);
  if (emphasised) text.emphasise(*emphasised);
  fmt::print("\n{}\n", text.text(on_terminal()));
}

void finish_study(const train::TrainConfig& job, const TrainView& view, nlohmann::json result) {
  result.update(train::origin_json(job.command));
  write_file(job.run_dir / "summary.json", result.dump(2) + "\n");
  if (view.json != "-") fmt::print("The runs are recorded in {}\n", job.run_dir.string());
  leave_report(job.run_dir, view.json != "-");
  write_json(view.json, result);
}

}  // namespace lockstep::cli
