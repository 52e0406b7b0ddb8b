// Starting a training run on workers of this machine.
#pragma once

#include "cli/train/progress_printer.h"
#include "launch/elastic/elastic_membership.h"
#include "run/summary.h"
#include "train/config/config.h"

namespace lockstep::internal::launch {
class NetworkHosts;
}

namespace lockstep::internal::cli {

/// What SIGINT and SIGTERM do to a run: end it at once, or after a step and a checkpoint.
enum class OnInterrupt { end, checkpoint };

/// Trains with config.workers workers, and returns the summary. The workers are threads (thread),
/// this program started again by mpirun (mpi, shm+mpi; they write to standard output, not to `out`)
/// or forked processes (the others), as config.transport says; only those can be on `hosts`, one
/// each. REQUIRES: config.run_dir is set.
/// Throws Error that names the first worker that failed; what each worker had to say is on standard
/// error by then.
run::Summary run_training(const train::TrainConfig& config, ProgressStyle style,
                          std::FILE* out = stdout, OnInterrupt on_interrupt = OnInterrupt::end,
                          const launch::NetworkHosts* hosts = nullptr);

/// The place of this process in an elastic run, as its launcher told it. An empty transport leaves
/// it to the launcher.
launch::ElasticMembership make_membership(const train::TrainConfig& config,
                                          const std::string& transport);

}  // namespace lockstep::internal::cli
