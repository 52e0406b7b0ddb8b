// What the options of train, compare and scale have in common beside the job's, which are in
// train/config/options.h.
#pragma once

#include "cli/command_options.h"
#include "train/config/config.h"

#include <cstddef>
#include <string>

namespace lockstep::internal::cli {

/// What a training command shows and writes, beside the run itself.
struct TrainView {
  std::size_t log_every = 20;
  std::string json;
  bool tensorboard = false;  ///< runs also leave event files for TensorBoard
};

run::Options view_options(TrainView& view);

/// Applies and checks the options: call it after CommandOptions::finish(), before use. Throws
/// UsageError, or FileError for a result that could not be written.
void finish_train_options(const CommandOptions& options, train::TrainConfig& config,
                          const TrainView& view);

}  // namespace lockstep::internal::cli
