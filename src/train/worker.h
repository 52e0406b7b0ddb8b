// Worker: one rank of a training run, from the first step to the results. Made by train_worker().
//
// Each step runs in Replica::step(). Around it the worker sets the learning rate, gathers records
// on rank 0, saves checkpoints, tests after epochs, and stops with the other ranks when asked to.
#pragma once

#include <lockstep/group.h>

#include "engine/engines.h"
#include "optim/schedule.h"
#include "run/summary.h"
#include "train/checkpoint/checkpoint_saver.h"
#include "train/config/dataset.h"
#include "train/config/machines.h"
#include "train/config/numeric_environment.h"
#include "train/elastic/elastic_member.h"
#include "train/feed.h"
#include "train/latency_probe.h"
#include "train/policy/balance.h"
#include "train/policy/epoch_policy.h"
#include "train/policy/stop_vote.h"
#include "train/policy/tester.h"
#include "train/progress.h"
#include "train/record/common_clock.h"
#include "train/record/record_gatherer.h"
#include "train/replica.h"
#include "train/run_history.h"
#include "train/run_trace.h"

#include <deque>
#include <optional>
#include <string>

namespace lockstep::internal::train {

/// All ranks of the group make one with the same configuration and call run() once. Used by one
/// thread. Functions marked "collective" are called by all ranks in the same order.
class Worker {
 public:
  /// Engines, progress and `elastic` must outlive the worker. `stop_asked` returns whether this
  /// rank is to stop; it may be empty. `elastic` is null for a run that ends when it loses a
  /// worker. A collective.
  Worker(Group group, const engine::Engines& engines, const TrainConfig& config, Progress& progress,
         const StopAsked& stop_asked, const ElasticMember* elastic);

  /// Trains, and writes the results from rank 0. Returns the summary on rank 0, an empty one on
  /// other ranks. Throws StoppedError on rank 0 if the run was asked to stop, RegroupError if a
  /// worker is to join an elastic run. A collective.
  run::Summary run();

  /// The state of the run from this rank's memory. Not a collective: other ranks may be gone.
  /// REQUIRES: the run is elastic.
  RunState state();

 private:
  // Start of a run.

  /// The state that an elastic run continues from; null if it starts, or resumes from a file.
  const RunState* initial_state() const;
  /// The newest iterations of that state, which may not be in metrics.jsonl yet.
  std::deque<Row> initial_rows() const;
  /// Continues from this checkpoint, which messages call `source`. A collective.
  void restore(const Checkpoint& checkpoint, const std::string& source);
  /// Restores the newest checkpoint of the run folder. A collective.
  void resume();
  /// Tells the user if ranks compute with different libraries or processors: with shards, results
  /// are promised to the bit, which such ranks cannot keep. A collective.
  void report_numeric_differences();
  /// Prepares for state(): from now on every rank keeps records and statistics of all. A
  /// collective.
  void start_replication();
  /// On rank 0: tells the user that training starts.
  void report_start(std::size_t iterations);
  /// Does the work after the last step of the initial state, if it is still due. A collective.
  void finish_last_step(std::size_t iterations);
  /// What config.json records beside the options.
  RunPlan plan() const;
  std::size_t planned_iterations() const;
  models::Metadata numeric_environment() const;

  // Training.

  /// Trains to the end of the epoch or of the run, or until it is stopped. A collective.
  void train_epoch(std::size_t iterations);
  /// One step of the replica, recorded. A collective.
  run::Record step(double rate);
  /// Work that is due after some steps: weight check, test, checkpoint. A collective.
  void after_step(std::size_t epoch, double rate);
  /// Records the end of an epoch, or of the run within it (`whole` is false then). A collective.
  void end_epoch(std::size_t epoch, bool whole);
  /// Learning rate of the next step.
  double learning_rate() const { return schedule_.rate(done_) * epoch_policy_.rate_factor(); }
  /// Tests the model after an epoch and applies the epoch policies. A collective.
  void apply_epoch_policy(std::size_t epoch, double rate);
  /// On rank 0: writes the newest test to metrics.jsonl.
  void record_test(double epoch, double rate);
  /// Changes the split of batches over workers if that is worth it. A collective.
  void rebalance(const run::Record& record);
  /// Sends records that rank 0 does not have yet. A collective.
  void flush_records();
  /// Rank 0 writes in the background. A collective.
  void save_checkpoint();
  /// Collects and writes the trace, if there is one that was not written. A failure is reported and
  /// does not end the run. A collective.
  void write_trace();

  // End of a run.

  /// Writes a checkpoint; throws StoppedError on rank 0. A collective.
  run::Summary stop(std::size_t iterations);
  /// `steps` of this start took so many seconds. A collective.
  run::Summary finish(std::size_t steps, double seconds);
  /// On rank 0: the weights and the run folder's results.
  void write(const run::Summary& summary);

  Group group_;
  const engine::Engines& engines_;
  Progress& progress_;
  const ElasticMember* const elastic_;
  Dataset dataset_;
  const TrainConfig config_;
  Feed feed_;
  const optim::Schedule schedule_;
  Replica replica_;
  std::optional<RunTrace> trace_;
  std::size_t done_ = 0;  ///< iterations, including those before this start
  Position start_;        ///< where this start began
  StopVote stop_vote_;
  bool stopped_ = false;
  Balance balance_;
  Tester tester_;
  EpochPolicy epoch_policy_;
  Machines machines_;
  std::optional<LatencyProbe> probe_;
  double seconds_aside_ = 0;  ///< spent on tests and on writing the trace, not on training

  CommonClock clock_;
  RecordGatherer gatherer_;
  std::optional<ReplicatedRecorder> replicated_;  ///< replaces gatherer_ in an elastic run
  models::Metadata policy_state_;  ///< of epoch_policy_ right after the newest step, for state()
  bool worker_waiting_ = false;    ///< a worker waits to join
  RunHistory history_{config_};    ///< used on rank 0
  CheckpointSaver saver_{group_, config_, progress_};  ///< destroyed before the history's lock
};

}  // namespace lockstep::internal::train
