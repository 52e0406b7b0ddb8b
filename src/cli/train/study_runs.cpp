#include "cli/train/study_runs.h"

#include "cli/command.h"
#include "cli/leave_report.h"
#include "run/study_file.h"
#include "train/config/provenance.h"

#include <fmt/format.h>

namespace lockstep::internal::cli {

run::Summary StudyRuns::run(const train::TrainConfig& config, const std::string& what) {
  const bool silent = config.json == "-";
  if (started_++ == 0) run::remove_study(folder_);
  if (!silent) {
    fmt::print("[{}/{}] {}\n", (started_ - 1) % total_ + 1, total_, what);
    std::fflush(stdout);
  }
  try {
    run::Summary summary = run_training(config, silent ? ProgressStyle::silent : style_, stdout,
                                        OnInterrupt::end, hosts_);
    leave_tensorboard(config.run_dir, config.tensorboard);
    return summary;
  } catch (...) {
    leave_report(folder_, !silent);
    throw;
  }
}

ProgressStyle study_progress(const CommandOptions& given) {
  if (given.asked_for("--log-every")) return ProgressStyle::losses;
  return on_terminal() ? ProgressStyle::bar : ProgressStyle::silent;
}

void finish_study(const train::TrainConfig& job, nlohmann::json result) {
  result.update(train::provenance_json(job.command));
  run::write_study(job.run_dir, result);
  if (job.json != "-") fmt::print("The runs are recorded in {}\n", job.run_dir.string());
  leave_report(job.run_dir, job.json != "-");
  write_json(job.json, result);
}

}  // namespace lockstep::internal::cli
