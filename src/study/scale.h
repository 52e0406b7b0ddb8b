// scale: trains the same job with several world sizes and batch sizes.
//
// Strong scaling: the epoch is the same for every world size, so more workers have fewer images
// each. Weak scaling: every worker has the same number of images, so the epoch grows with the world
// size. In both, batches are per worker: the work of a step on each worker is constant, and only
// the number of steps and of communicating workers changes.
//
// All workers of all runs have the same number of threads, so a worker is a fixed part of the
// machine, like one of several devices.
#pragma once

#include "launch/hosts/network_link.h"
#include "run/summary.h"
#include "study/remarks.h"
#include "train/config/config.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::study {

/// Emulated hosts with one worker each: network namespaces of this machine.
struct ScaleHosts {
  int count = 0;
  launch::NetworkLink link;
};

/// The options of a scaling study.
struct ScaleJob {
  /// The options that all runs have in common. run_dir is the parent of their folders. workers,
  /// batch, sync and limit are overwritten for each run.
  train::TrainConfig job;
  std::vector<int> workers{1, 2, 4};
  std::vector<std::size_t> batches{32, 128, 512};  ///< images per worker and step
  std::vector<std::string> methods{"ddp"};         ///< names as in with_method()
  bool weak = false;
  std::size_t images = 0;  ///< available training images
  Machine machine = {};
  std::optional<ScaleHosts> hosts{};
  /// Returns the free memory in bytes; empty function if that is not known.
  std::function<double()> free_memory{};
};

struct PlannedRun {
  std::string name;        ///< "w2-b128", with several methods "w2-b128-ring"; also the folder
  std::string method;      ///< name as in ScaleJob::methods
  std::size_t batch = 0;   ///< per worker
  std::size_t images = 0;  ///< per epoch
  train::TrainConfig config;
};

/// All runs, ordered by batch, method and workers. A single worker trains the same with every
/// method, so it runs once per batch. Throws UsageError for lists that are empty or have duplicate
/// or invalid values, and for a global batch with more images than an epoch.
std::vector<PlannedRun> plan_scaling(const ScaleJob& job);

/// The all-reduces of one step, measured by bench.
struct BenchedStep {
  double bytes = 0;    ///< bytes that a rank moves, mean over the ranks
  double seconds = 0;  ///< time of all of them
};

struct ScaledRun {
  PlannedRun plan;
  run::Summary summary;
  double seconds_per_epoch = 0;
  double speedup = 1;                ///< images per second, relative to the baseline
  std::size_t baseline = 0;          ///< index of the run that it is compared with
  double efficiency = 1;             ///< images per second and worker, relative to the baseline
  bool oversubscribed = false;       ///< more threads than cores: measures overhead, not speed-up
  std::optional<BenchedStep> bench;  ///< empty for one worker, or if it was not measured
  /// Of every epoch that the run completed, from 1: mean over the ranks. The first one includes
  /// one-time setup.
  std::map<std::size_t, double> epoch_seconds{};

  bool alone() const { return summary.workers == 1; }
  /// Seconds per epoch, mean over the ranks.
  double compute_seconds() const { return seconds_per_epoch * summary.compute_share; }
  double communication_seconds() const { return seconds_per_epoch * summary.communication_share; }
  double transfer_seconds() const { return seconds_per_epoch * summary.transfer_share(); }
  double hidden_seconds() const { return seconds_per_epoch * summary.hidden_communication_share; }
  double wait_seconds() const { return seconds_per_epoch * summary.wait_share; }
  double data_seconds() const { return seconds_per_epoch * summary.data_share; }
  /// Bytes that a worker moved divided by the time inside collectives. If a library does not report
  /// its bytes (MPI's own all-reduce), the bytes of the best algorithm are used.
  double bandwidth_mbs() const;
  /// The bandwidth that bench achieves with the same bytes, in MB/s.
  std::optional<double> bench_mbs() const;
  /// Bandwidth of this run as a fraction of bench's.
  std::optional<double> bandwidth_share() const;
};

struct Scaling {
  ScaleJob job;
  std::vector<ScaledRun> runs;  ///< in the order of the plan
  int baseline_workers = 1;     ///< the smallest number of workers
  std::vector<std::string>
      left_out{};  ///< one sentence per run that was skipped for lack of memory
};

/// Seconds of an epoch of `images` images. The first iteration includes one-time setup and is
/// counted with the median time. The time of the measured iterations is scaled by their images to
/// one epoch.
double seconds_of_epoch(const run::Summary& summary, std::size_t images);

/// Fills in baseline, speedup and efficiency: relative to the run with the fewest workers of the
/// same batch and method.
void compare_with_baseline(std::vector<ScaledRun>& runs);

/// Runs one job and returns its summary.
using RunPlanned = std::function<run::Summary(const PlannedRun&)>;
/// Measures the all-reduces of one step of a finished run with bench. Empty if its messages are not
/// known.
using MeasureMessages =
    std::function<std::optional<BenchedStep>(const PlannedRun&, const run::Summary&)>;

/// Executes the runs of plan_scaling, each in its own folder below that of the job. A run that
/// would need more memory than is free, estimated from a run with fewer workers, is skipped: the
/// kernel would kill it. Throws whatever plan_scaling, `run` and `bench` throw.
Scaling scale(const ScaleJob& job, const RunPlanned& run, const MeasureMessages& bench);

}  // namespace lockstep::internal::study
