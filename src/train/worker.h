// One worker's part of a training run.
#pragma once

#include <lockstep/error.h>
#include <lockstep/group.h>

#include "train/checkpoint.h"
#include "train/config.h"
#include "train/summary.h"

#include <functional>

namespace lockstep::train {

/// What a run tells while it goes on. Called on rank 0 only.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void started(const TrainConfig& config, std::size_t iterations,
                       std::size_t train_images) = 0;
  /// Something that the user should know of, but that does not end the run.
  virtual void notice(const std::string& text) = 0;
  /// After iteration `done` of `iterations`; loss is rank 0's.
  virtual void iteration(std::size_t done, std::size_t iterations, double loss, double seconds) = 0;
  /// After each epoch: every rank's records of it.
  virtual void epoch(std::size_t epoch, const std::vector<std::vector<Record>>& records) = 0;
  /// After an epoch that was followed by a test: its mean loss, and the share it recognised.
  virtual void tested(std::size_t /*epoch*/, double /*loss*/, double /*accuracy*/) {}
};

struct Elastic;

/// Whether the run is to stop after this step, and go on another time.
using StopAsked = std::function<bool()>;

/// Trains as one rank of the group. All ranks call it with the same configuration. Writes the run
/// folder and the weights from rank 0, whose return value is the run's summary; other ranks get an
/// empty one. If some rank is asked to stop, all do so after the same step; rank 0 writes a
/// checkpoint and throws StoppedError. With `elastic`, goes on from what the worker has carried
/// along, and carries along what it knows when it throws: see elastic.h.
Summary train_worker(Group group, const TrainConfig& config, Progress& progress,
                     const StopAsked& stop_asked = {}, Elastic* elastic = nullptr);

/// The run was asked to stop; the message says how to go on.
class StoppedError : public Error {
 public:
  using Error::Error;
};

}  // namespace lockstep::train
