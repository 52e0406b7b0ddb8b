// RunBook: what rank 0 keeps of a run: every rank's records since its start and of the last epoch,
// and the run folder, if there is one.
#pragma once

#include "train/feed.h"
#include "train/ledger.h"
#include "train/run_folder.h"
#include "train/worker.h"

#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::train {

/// Where a run goes on.
struct Position {
  std::size_t done = 0;  ///< iterations
  bool unfinished =
      false;               ///< what follows the last of them is yet to be done, or to be done again
  bool in_memory = false;  ///< from what the worker has, and not from a file
  std::deque<Row> rows{};  ///< the newest iterations, which may not be recorded yet
};

/// One thread at a time.
class RunBook {
 public:
  /// The configuration must outlive it.
  explicit RunBook(const TrainConfig& config) : config_(config) {}

  /// Keeps other runs out of the folder, before anything in it is looked at. Throws FileError if
  /// one is there, unless this run goes on without a worker that may hang: it still does the same.
  void lock(bool goes_on);

  /// Opens the folder, and takes up the epoch that was begun. REQUIRES: begin() comes later.
  void open(const Position& at, const Feed& feed, const RunFolder::Plan& plan);

  /// The records of so many ranks are to come.
  void begin(int ranks);
  void begin_epoch() { epoch_records_.assign(records_.size(), {}); }
  void keep(int rank, std::span<const Record> records);
  /// Into the folder, if the epoch is `whole`.
  void end_epoch(bool whole);

  /// For a start after the last step: its records, from the rows or the folder, are those since
  /// this start. Throws FileError if they are nowhere.
  void recall_last_step(const Position& at, std::size_t images);

  /// By rank.
  const std::vector<std::vector<Record>>& records() const { return records_; }
  /// Of the last epoch, even if it was begun before the start.
  const std::vector<std::vector<Record>>& epoch_records() const { return epoch_records_; }
  /// Null if there is none.
  RunFolder* folder() { return folder_ ? &*folder_ : nullptr; }

 private:
  const TrainConfig& config_;
  std::vector<std::vector<Record>> records_;
  std::vector<std::vector<Record>> epoch_records_;
  std::optional<FolderLock> lock_;
  std::optional<RunFolder> folder_;
};

}  // namespace lockstep::train
