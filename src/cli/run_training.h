// Starting a training run on workers of this machine.
#pragma once

#include "cli/progress_printer.h"
#include "train/config.h"
#include "train/summary.h"

namespace lockstep::cli {

/// Trains with config.workers workers, processes (shm) or threads (thread) as config.transport
/// says, and returns the summary. REQUIRES: config.run_dir is set. Throws Error that names the
/// first worker that failed; what each worker had to say is on standard error by then.
train::Summary run_training(const train::TrainConfig& config, ProgressStyle style,
                            std::size_t log_every, std::FILE* out = stdout);

}  // namespace lockstep::cli
