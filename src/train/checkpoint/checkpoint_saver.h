// CheckpointSaver: writes a run's checkpoints on rank 0 in the background, and ends the run or
// reports the error if one cannot be written, as --checkpoint-errors says.
#pragma once

#include <lockstep/group.h>

#include "train/checkpoint/checkpoint_writer.h"
#include "train/progress.h"

#include <optional>
#include <string>

namespace lockstep::internal::train {

/// Used by one thread at a time.
class CheckpointSaver {
 public:
  /// Configuration and progress must outlive it.
  CheckpointSaver(Group group, const TrainConfig& config, Progress& progress);

  /// On rank 0: starts writing in the background. REQUIRES: no write is in progress, see wait().
  void start(Checkpoint checkpoint) { writer_.start(std::move(checkpoint)); }

  /// Waits for the write in progress, if there is one, and handles its error. A collective.
  void wait();

  /// On rank 0: handles the error of a write that has ended. Does not wait.
  void poll() { handle(writer_.take_error()); }

  /// On rank 0: throws FileError if the run is to stop when a checkpoint fails, else tells the
  /// user.
  void handle(const std::optional<std::string>& error);

  /// From now on the run stops when a checkpoint fails.
  void require_all() { required_ = true; }

  /// On rank 0: the file of the last successful write.
  const std::filesystem::path& newest() const { return writer_.newest(); }

 private:
  Group group_;
  Progress& progress_;
  bool required_;  ///< the run stops when a checkpoint fails
  CheckpointWriter writer_;
};

}  // namespace lockstep::internal::train
