// Progress: what a run reports to the user while it trains, and how it is asked to stop.
#pragma once

#include <lockstep/error.h>

#include "run/record.h"
#include "run/summary.h"
#include "train/config/config.h"

#include <functional>
#include <string>
#include <vector>

namespace lockstep::internal::train {

/// Called on rank 0 only, by the thread that trains.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void started(const TrainConfig& config, std::size_t iterations,
                       std::size_t train_images) = 0;
  /// A message for the user. The run continues.
  virtual void notice(const std::string& text) = 0;
  /// After iteration `done` of `iterations`, which took so many seconds; `loss` is rank 0's.
  virtual void iteration(std::size_t done, std::size_t iterations, double loss, double seconds) = 0;
  /// After each epoch, with its records by rank.
  virtual void epoch(std::size_t epoch, const std::vector<std::vector<run::Record>>& records) = 0;
  /// After the test that follows an epoch.
  virtual void tested(std::size_t /*epoch*/, const run::TestResults& /*test*/) {}
};

/// Returns whether the run is to stop after this step; it can be resumed later.
using StopAsked = std::function<bool()>;

/// The run was asked to stop; the message says how to resume it.
class StoppedError : public Error {
 public:
  using Error::Error;
};

}  // namespace lockstep::internal::train
