#include "cli/run_training.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "cli/command.h"
#include "launch/job.h"
#include "train/run_folder.h"
#include "train/worker.h"

#include <fmt/format.h>

namespace lockstep::cli {

namespace {

void run_threads_training(const train::TrainConfig& config, ProgressStyle style,
                          std::size_t log_every, std::FILE* out) {
  run_threads(config.workers, [&](Group group) {
    const auto progress = make_progress(style, log_every, out);
    train::train_worker(std::move(group), config, *progress);
  });
}

void run_processes_training(const train::TrainConfig& config, ProgressStyle style,
                            std::size_t log_every, std::FILE* out) {
  const launch::JobResult result = launch::run_forked({.workers = config.workers}, [&] {
    try {
      const auto progress = make_progress(style, log_every, out);
      train::train_worker(init(), config, *progress);
      return kSuccess;
    } catch (...) {
      return report_exception("lockstep");
    }
  });
  if (result.interrupted_by != 0) throw Error("interrupted");
  if (result.first_failure)
    throw Error(fmt::format("the run failed: {}", result.first_failure->text()));
}

}  // namespace

train::Summary run_training(const train::TrainConfig& config, ProgressStyle style,
                            std::size_t log_every, std::FILE* out) {
  if (config.transport == "thread")
    run_threads_training(config, style, log_every, out);
  else
    run_processes_training(config, style, log_every, out);
  return train::read_summary(config.run_dir);
}

}  // namespace lockstep::cli
