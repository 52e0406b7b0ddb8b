#include "train/worker.h"

#include "base/blas.h"
#include "engine/torch/torch_engine.h"
#include "train/checkpoint.h"
#include "train/same_job.h"
#include "train/worker_parts.h"

namespace lockstep::train {

namespace {

/// Others may not see the folder. A collective.
bool rank_zero_has_checkpoints(Group& group, const std::filesystem::path& run_dir) {
  std::vector<std::uint8_t> has{0};
  if (group.rank() == 0) has[0] = has_checkpoints(run_dir) ? 1 : 0;
  group.broadcast(has);
  return has[0] != 0;
}

}  // namespace

Summary train_worker(Group group, const TrainConfig& config, Progress& progress,
                     const StopAsked& stop_asked, Elastic* elastic) {
  config.validate();
  if (!elastic) require_same_options(group, config);  // its workers have compared before they met
  use_fast_blas_kernels();
  engine::use_threads(config.threads_per_worker());
  engine::keep_freed_memory();
  TrainConfig mine = config;
  // Who was let in was not started again; but then all know what to go on from.
  if (config.restarted && !(elastic && elastic->carried))
    mine.resume = rank_zero_has_checkpoints(group, config.run_dir);
  Worker worker(std::move(group), mine, progress, stop_asked, elastic);
  if (!elastic) return worker.run();
  try {
    return worker.run();
  } catch (...) {
    elastic->carried = worker.carry();
    elastic->trained = true;
    throw;
  }
}

}  // namespace lockstep::train
