// CheckpointWriter: writes one checkpoint at a time in a background thread while training
// continues. Used on rank 0, by one thread at a time.
#pragma once

#include "base/thread.h"
#include "train/checkpoint/checkpoint.h"

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep::internal::train {

class CheckpointWriter {
 public:
  /// The configuration must outlive it.
  explicit CheckpointWriter(const TrainConfig& config) : config_(config) {}
  /// Waits for the write in progress.
  ~CheckpointWriter() = default;
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Starts writing and returns. REQUIRES: the last write has ended, and take_error() was called.
  void start(Checkpoint checkpoint);

  /// Waits until the write in progress, if there is one, has succeeded or failed.
  void wait();

  /// The error of a write that has failed since the last call; none if it succeeded, is still in
  /// progress, or there was none. Does not wait.
  std::optional<std::string> take_error();

  /// The file of the last successful write that take_error() has seen; empty if there is none.
  const std::filesystem::path& newest() const { return newest_; }

 private:
  const TrainConfig& config_;
  std::future<std::filesystem::path> writing_;  ///< its destructor waits for the write
  std::filesystem::path newest_;
};

}  // namespace lockstep::internal::train
