// Worker: one rank of a training run, from its start to its results. train_worker() makes it; see
// worker.h. How it starts and ends is in worker_ends.cpp, how it trains in worker_steps.cpp.
#pragma once

#include <lockstep/group.h>

#include "optim/schedule.h"
#include "train/arithmetic.h"
#include "train/balance.h"
#include "train/checkpoint_saver.h"
#include "train/dataset.h"
#include "train/elastic.h"
#include "train/epoch_judge.h"
#include "train/feed.h"
#include "train/latency_probe.h"
#include "train/machines.h"
#include "train/replica.h"
#include "train/run_book.h"
#include "train/run_trace.h"
#include "train/stop_vote.h"
#include "train/tester.h"

#include <deque>
#include <optional>
#include <string>

namespace lockstep::train {

/// What it refers to must outlive it. One thread at a time.
class Worker {
 public:
  Worker(Group group, const TrainConfig& config, Progress& progress, const StopAsked& stop_asked,
         const Elastic* elastic);

  Summary run();

  /// What this rank knows. REQUIRES: the run is elastic. No collective: others may be gone.
  Carried carry();

 private:
  /// From the group before; null if there was none.
  const Carried* carried_so_far() const;
  /// Its newest iterations, which may not be recorded yet.
  std::deque<Row> rows_so_far() const;

  /// Goes on from a state that messages call `source`. A collective.
  void take_over(const Checkpoint& checkpoint, const std::string& source);

  /// With shards results are promised to the bit, which ranks that compute differently cannot keep:
  /// says so. A collective.
  void notice_different_arithmetic();

  /// From now on every rank could go on alone. A collective.
  void keep_everywhere();

  /// On rank 0.
  void say_start(std::size_t iterations);

  /// What follows the newest step of the group before: some ranks may have done it, none more.
  void catch_up(std::size_t iterations);

  void resume();

  RunFolder::Plan plan() const;

  models::Metadata arithmetic() const { return arithmetic_of(config_, replica_.engine()); }

  /// A collective; rank 0 writes, and goes on meanwhile.
  void save_checkpoint();

  /// If there is one to write and it was not written yet. What was learnt is worth more: that it
  /// cannot be written ends no run. A collective.
  void write_trace();

  /// To rank 0. A collective.
  void flush_records();

  /// Whether it is enough, and how fast to go on. A collective, at the end of an epoch.
  void judge_epoch(std::size_t epoch, double rate);

  void add_test(double epoch, double rate);

  /// A collective now and then.
  void rebalance(const Record& record);

  Summary stop(std::size_t iterations);

  /// Of the next step.
  double learning_rate() const { return schedule_.rate(done_) * judge_.share(); }

  std::size_t planned_iterations() const;

  /// To the end of the epoch, of the run, or until it is stopped.
  void train_epoch(std::size_t iterations);

  /// A collective.
  Record step(double rate);

  /// What is due after some steps. A collective.
  void after_step(std::size_t epoch, double rate);

  /// An epoch has come to its end, or the run has within it. A collective.
  void end_epoch(std::size_t epoch, bool whole);

  Summary finish(std::size_t steps, double seconds);

  void write(const Summary& summary);

  Group group_;
  Progress& progress_;
  const Elastic* const elastic_;  ///< null for a run that ends with any of its workers
  Dataset dataset_;
  const TrainConfig config_;
  Feed feed_;
  const optim::Schedule schedule_;
  Replica replica_;
  std::optional<RunTrace> trace_;
  std::size_t done_ = 0;  ///< iterations
  Position start_;
  StopVote stop_vote_;
  bool stopped_ = false;
  Balance balance_;
  Tester tester_;
  EpochJudge judge_;
  Machines machines_;
  std::optional<LatencyProbe> probe_;
  double seconds_aside_ = 0;  ///< of writing the trace, and of tests: no part of training

  Recorder recorder_;
  std::optional<Ledger> ledger_;                       ///< in its place, of an elastic run
  models::Metadata notes_;                             ///< the judge's right after the newest step
  bool someone_waits_ = false;                         ///< to be let in
  RunBook book_{config_};                              ///< on rank 0
  CheckpointSaver saver_{group_, config_, progress_};  ///< ends before the book's lock does
};

}  // namespace lockstep::train
