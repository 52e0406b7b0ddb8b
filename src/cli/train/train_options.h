// Common steps of train, compare and scale after their options were parsed.
#pragma once

#include "cli/command_options.h"
#include "train/config/config.h"

namespace lockstep::internal::cli {

/// With --iterations alone, training takes as many epochs as they need.
void resolve_training_length(const CommandOptions& options, train::TrainConfig& config);

/// Applies and checks the options: call it after CommandOptions::finish(), before use. Throws
/// UsageError.
void finish_train_options(const CommandOptions& options, train::TrainConfig& config);

/// Throws FileError if the weights (--save) or the result (--json) cannot be written: now, not
/// after hours of training.
void require_writable_results(const train::TrainConfig& config);

}  // namespace lockstep::internal::cli
