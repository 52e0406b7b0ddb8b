#include "train/train_worker.h"

#include "base/blas.h"
#include "comm/purpose.h"
#include "train/checkpoint/checkpoint.h"
#include "train/config/same_job.h"
#include "train/worker.h"

namespace lockstep::internal::train {

namespace {

/// Other ranks may not see the folder. A collective.
bool rank_zero_has_checkpoints(Group& group, const std::filesystem::path& run_dir) {
  std::vector<std::uint8_t> has{0};
  if (group.rank() == 0) has[0] = has_checkpoints(run_dir) ? 1 : 0;
  group.broadcast(has);
  return has[0] != 0;
}

}  // namespace

run::Summary train_worker(Group group, const engine::Engines& engines, const TrainConfig& config,
                          Progress& progress, const StopAsked& stop_asked, ElasticMember* elastic) {
  config.validate();
  // What nothing else claims: checks that options, data and layouts are the same, and barriers.
  const comm::PurposeMark mark(comm::Purpose::agreement);
  if (!elastic) require_same_options(group, config);  // elastic workers compared them when they met
  use_fast_blas_kernels();
  engines.use_threads(config.threads_per_worker());
  engines.keep_freed_memory();
  TrainConfig mine = config;
  // A restarted run resumes if it has checkpoints, unless its workers have the state in memory.
  if (config.restarted && !(elastic && elastic->state))
    mine.resume = rank_zero_has_checkpoints(group, config.run_dir);
  Worker worker(std::move(group), engines, mine, progress, stop_asked, elastic);
  if (!elastic) return worker.run();
  try {
    return worker.run();
  } catch (...) {
    elastic->state = worker.state();
    elastic->has_trained = true;
    throw;
  }
}

}  // namespace lockstep::internal::train
