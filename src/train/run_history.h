// RunHistory: the records of all ranks on rank 0, those since this start of the run and those of
// the last epoch, and the run folder that they are written to, if there is one.
#pragma once

#include "models/safetensors.h"
#include "run/epochs.h"
#include "run/run_folder.h"
#include "train/config/config.h"
#include "train/elastic/replicated_recorder.h"
#include "train/feed.h"

#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::internal::train {

/// What config.json records beside the options.
struct RunPlan {
  std::size_t iterations = 0;
  std::size_t parameters = 0;              ///< tensors whose gradients are kept equal
  std::size_t gradient_bytes = 0;          ///< bytes of all these gradients
  models::Metadata numeric_environment{};  ///< see numeric_environment.h
};

/// Where a start of a run begins.
struct Position {
  std::size_t done = 0;     ///< iterations before this start
  bool unfinished = false;  ///< the work after the last of them (a test, a checkpoint) is still due
  bool in_memory = false;   ///< the state came from a worker's memory, not from a checkpoint
  std::deque<Row> rows{};   ///< records of the newest iterations, which may not be written yet
};

/// Used by one thread at a time.
class RunHistory {
 public:
  /// The configuration must outlive it.
  explicit RunHistory(const TrainConfig& config) : config_(config) {}

  /// Locks the run folder against other runs, before anything in it is read. Throws FileError if it
  /// is locked, unless `continues`: then a worker that hangs, and that this run continued without,
  /// has the lock and keeps other runs out just as well.
  void lock(bool continues);

  /// Opens the run folder, and reads the records of an epoch that was begun before this start.
  /// REQUIRES: begin() was not called yet.
  void open(const Position& at, const Feed& feed, const RunPlan& plan);

  /// Prepares for the records of so many ranks.
  void begin(int ranks);
  void begin_epoch() { epoch_records_.assign(records_.size(), {}); }
  /// Adds records of a rank, in order.
  void keep(int rank, std::span<const run::Record> records);
  /// Keeps the epoch's results, and writes them to metrics.jsonl, if the epoch is `whole`.
  void end_epoch(bool whole);

  /// For a start that has no steps left to do: takes the records of the last step, from the rows or
  /// the run folder, as those since this start. Throws FileError if they are in neither.
  void recall_last_step(const Position& at, std::size_t images);

  /// Records since this start, by rank.
  const std::vector<std::vector<run::Record>>& records() const { return records_; }
  /// Records of the last epoch, by rank, also those from before this start.
  const std::vector<std::vector<run::Record>>& epoch_records() const { return epoch_records_; }
  /// The results of all whole epochs, also of those before this start.
  const run::Epochs& epochs() const { return epochs_; }
  /// Null if the run has no folder.
  run::RunFolder* folder() { return folder_ ? &*folder_ : nullptr; }

 private:
  const TrainConfig& config_;
  std::vector<std::vector<run::Record>> records_;
  std::vector<std::vector<run::Record>> epoch_records_;
  run::Epochs epochs_;
  std::optional<FolderLock> lock_;
  std::optional<run::RunFolder> folder_;
};

}  // namespace lockstep::internal::train
