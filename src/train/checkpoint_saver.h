// CheckpointSaver: the checkpoints that a run's ranks make together and rank 0 writes, and what
// becomes of the run if one cannot be written.
#pragma once

#include <lockstep/group.h>

#include "train/checkpoint_writer.h"
#include "train/worker.h"

#include <optional>
#include <string>

namespace lockstep::train {

/// One thread at a time.
class CheckpointSaver {
 public:
  /// Configuration and progress must outlive it.
  CheckpointSaver(Group group, const TrainConfig& config, Progress& progress);

  /// On rank 0: begins to write it, and goes on meanwhile. REQUIRES: wait() came before.
  void start(Checkpoint checkpoint) { writer_.start(std::move(checkpoint)); }

  /// Until the one under way, if there is one, is written. A collective.
  void wait();

  /// On rank 0: what is wrong with one that was written meanwhile. Does not wait.
  void look() { heed(writer_.problem()); }

  /// On rank 0: what is wrong with a checkpoint ends the run, with FileError, or not, as was asked
  /// for.
  void heed(const std::optional<std::string>& problem);

  /// From now on it does.
  void need_all() { needed_ = true; }

  /// On rank 0: the last that was written well.
  const std::filesystem::path& newest() const { return writer_.newest(); }

 private:
  Group group_;
  Progress& progress_;
  bool needed_;
  CheckpointWriter writer_;
};

}  // namespace lockstep::train
