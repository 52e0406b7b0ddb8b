#include "cli/train/study_runs.h"

#include "cli/command.h"
#include "cli/leave_report.h"
#include "run/study_file.h"
#include "train/config/provenance.h"

#include <fmt/format.h>

namespace lockstep::internal::cli {

run::Summary StudyRuns::run(const train::TrainConfig& config, const std::string& what) {
  const bool silent = config.json == "-";
  const std::filesystem::path study = config.run_dir.parent_path();
  if (++started_ == 1) run::remove_study(study);
  if (!silent) {
    fmt::print("[{}/{}] {}\n", started_, total_, what);
    std::fflush(stdout);
  }
  try {
    run::Summary summary =
        run_training(config, !silent && on_terminal() ? ProgressStyle::bar : ProgressStyle::silent,
                     stdout, OnInterrupt::end, hosts_);
    leave_tensorboard(config.run_dir, config.tensorboard);
    return summary;
  } catch (...) {
    leave_report(study, !silent);
    throw;
  }
}

void finish_study(const train::TrainConfig& job, nlohmann::json result) {
  result.update(train::provenance_json(job.command));
  run::write_study(job.run_dir, result);
  if (job.json != "-") fmt::print("The runs are recorded in {}\n", job.run_dir.string());
  leave_report(job.run_dir, job.json != "-");
  write_json(job.json, result);
}

}  // namespace lockstep::internal::cli
