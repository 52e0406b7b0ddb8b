// scale: the same job over several world sizes and batch sizes.
//
// Strong scaling: every world does the same epoch, so more workers have fewer images each. Weak
// scaling: every worker has the same images, so the epoch grows with the world. Batches are one
// worker's in both: a step's work on each worker stays the same, and what changes from world to
// world is how often gradients travel and between how many.
//
// The workers of all worlds have equally many threads: one is a fixed share of the machine, like
// one device of several.
#pragma once

#include "launch/network_link.h"
#include "train/config.h"
#include "train/summary.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::study {

/// Hosts of one worker each that are network namespaces of this machine.
struct ScaleHosts {
  int count = 0;
  launch::NetworkLink link;
};

/// What was asked for.
struct ScaleJob {
  /// What all runs have in common. Its run_dir holds their folders; workers, batch, sync and limit
  /// are filled in.
  train::TrainConfig job;
  std::vector<int> workers{1, 2, 4};
  std::vector<std::size_t> batches{32, 128, 512};  ///< images of one worker in a step
  std::vector<std::string> methods{"ddp"};         ///< as with_method() takes them
  bool weak = false;
  std::size_t images = 0;  ///< training images that there are for it
  int cores = 1;           ///< that this machine has for it
  double load = 0;         ///< threads that were busy in the minute before
  std::optional<ScaleHosts> hosts{};
  /// Bytes of memory that are free at the moment; empty if that is not known.
  std::function<double()> free_memory{};
};

struct PlannedRun {
  std::string name;        ///< "w2-b128", and with several methods "w2-b128-ring"; its folder, too
  std::string method;      ///< as the job names it
  std::size_t batch = 0;   ///< a worker's
  std::size_t images = 0;  ///< of an epoch
  train::TrainConfig config;
};

/// All runs, by batch, then method, then workers. One worker alone is the same by every method: it
/// runs once for each batch. Throws UsageError for lists that are empty, name something twice or
/// make no sense, and for a global batch that there are not enough images for.
std::vector<PlannedRun> plan_scaling(const ScaleJob& job);

/// What bench makes of one step's messages.
struct BenchedStep {
  double bytes = 0;  ///< that a rank has to move, on average
  double seconds = 0;
};

struct ScaledRun {
  PlannedRun plan;
  train::Summary summary;
  double seconds_per_epoch = 0;
  double speedup = 1;     ///< images a second, relative to the baseline's
  double efficiency = 1;  ///< of it, what each worker contributes relative to one of the baseline's
  bool oversubscribed = false;       ///< more threads than cores: measures overhead, not speed-up
  std::optional<BenchedStep> bench;  ///< nothing for one worker

  bool alone() const { return summary.workers == 1; }
  /// Seconds of an epoch, the mean over the ranks.
  double compute_seconds() const { return seconds_per_epoch * summary.compute_share; }
  double communication_seconds() const { return seconds_per_epoch * summary.communication_share; }
  double exposed_seconds() const { return seconds_per_epoch * summary.exposed_communication_share; }
  double hidden_seconds() const { return seconds_per_epoch * summary.hidden_communication_share; }
  double wait_seconds() const { return seconds_per_epoch * summary.wait_share; }
  /// Bytes that a worker moved, by the time inside collectives. Where a library does not tell its
  /// bytes (MPI's own all-reduce), those that the best algorithm needs.
  double bandwidth_mbs() const;
  /// What bench achieves with the same bytes, in MB/s, and how much of it this run did.
  std::optional<double> bench_mbs() const;
  std::optional<double> bandwidth_share() const;
};

struct Scaling {
  ScaleJob job;
  std::vector<ScaledRun> runs;          ///< in the order of the plan
  int baseline_workers = 1;             ///< the smallest world, which the others are compared with
  std::vector<std::string> left_out{};  ///< runs that there was no memory for: a sentence each
};

/// Seconds of an epoch of `images` images: the first iteration, which pays for what is set up once,
/// counts like a usual one, and a part of an epoch, or several, are scaled by their images.
double seconds_of_epoch(const train::Summary& summary, std::size_t images);

/// Fills in speedup and efficiency: relative to the run with the fewest workers of the same batch
/// and method.
void compare_with_baseline(std::vector<ScaledRun>& runs);

/// Runs one job and returns its summary.
using RunPlanned = std::function<train::Summary(const PlannedRun&)>;
/// Lets bench do what a step of a run that has ended did. Nothing if that is not known.
using MeasureMessages =
    std::function<std::optional<BenchedStep>(const PlannedRun&, const train::Summary&)>;

/// Runs all that plan_scaling plans, each in a folder of its own below the job's. A world that
/// would need more memory than there is, by what a worker of a smaller one needed, is left out: the
/// kernel would end it, and with it the study. Throws what plan_scaling and the functions throw.
Scaling scale(const ScaleJob& job, const RunPlanned& run, const MeasureMessages& bench);

}  // namespace lockstep::study
