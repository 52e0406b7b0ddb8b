// The options that train and compare share.
#pragma once

#include "train/config.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace lockstep::cli {

/// What a training command shows and leaves, beside the run itself.
struct TrainView {
  std::size_t log_every = 20;
  std::string json;
  bool tensorboard = false;  ///< runs also leave event files for TensorBoard
};

/// Binds the options to `config` and `view`, whose values are the defaults shown by --help.
void add_train_options(CLI::App& command, train::TrainConfig& config, TrainView& view);

/// What follows from the options together: call it after parsing, before use. Throws UsageError, or
/// FileError for a result that could not be written.
void finish_train_options(const CLI::App& command, train::TrainConfig& config,
                          const TrainView& view);

/// The arguments that make `lockstep train`, started by a launcher, do its part of this run.
std::vector<std::string> train_arguments(const train::TrainConfig& config);

}  // namespace lockstep::cli
