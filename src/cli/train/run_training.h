// Starts a training run on workers of this machine.
#pragma once

#include "cli/train/progress_printer.h"
#include "launch/elastic/elastic_membership.h"
#include "run/summary.h"
#include "train/config/config.h"

namespace lockstep::internal::launch {
class NetworkHosts;
}

namespace lockstep::internal::cli {

/// The effect of SIGINT and SIGTERM: end the run at once, or after a step and a checkpoint.
enum class OnInterrupt { end, checkpoint };

/// Trains with config.workers workers, and returns the summary. Depending on config.transport,
/// workers are threads (thread), instances of this program under mpirun (mpi, shm+mpi; they write
/// to standard output, not to `out`) or forked processes (the others). Forked processes can be on
/// `hosts`, one each. REQUIRES: config.run_dir is set.
/// Throws Error that names the first worker that failed, after all workers have written their
/// errors to standard error.
run::Summary run_training(const train::TrainConfig& config, ProgressStyle style,
                          std::FILE* out = stdout, OnInterrupt on_interrupt = OnInterrupt::end,
                          const launch::NetworkHosts* hosts = nullptr);

/// The membership of this process in an elastic run, from the variables of its launcher. If
/// `transport` is empty, the launcher chooses it.
launch::ElasticMembership make_membership(const train::TrainConfig& config,
                                          const std::string& transport);

}  // namespace lockstep::internal::cli
