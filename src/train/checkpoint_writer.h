// CheckpointWriter: writes a run's checkpoints in a thread of its own, while training goes on. One
// at a time. Rank 0 has one; one thread at a time.
#pragma once

#include "train/checkpoint.h"

#include <filesystem>
#include <future>
#include <optional>
#include <string>

namespace lockstep::train {

class CheckpointWriter {
 public:
  /// The configuration must outlive it.
  explicit CheckpointWriter(const TrainConfig& config) : config_(config) {}
  /// Waits for the write under way.
  ~CheckpointWriter() = default;
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Begins to write it, and returns. REQUIRES: nothing is under way: see wait().
  void start(Checkpoint checkpoint);

  /// Returns when the write under way, if there is one, has ended, well or not.
  void wait();

  /// What was wrong with a write that has ended; said once. Does not wait.
  std::optional<std::string> problem();

  /// The last that was written well, as far as problem() has looked; empty if there is none.
  const std::filesystem::path& newest() const { return newest_; }

 private:
  const TrainConfig& config_;
  std::future<std::filesystem::path> under_way_;  ///< whose end its destructor waits for
  std::filesystem::path newest_;
};

}  // namespace lockstep::train
