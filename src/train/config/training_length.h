// The length of a run's training and its learning rate schedule. Both depend on the options and on
// the number of images.
#pragma once

#include "optim/schedule.h"
#include "train/config/config.h"

#include <cstddef>

namespace lockstep::internal::train {

/// Number of steps of the run, by --epochs and --iterations.
std::size_t planned_iterations(const TrainConfig& config, std::size_t batches_per_epoch);

/// Throws UsageError if the warm-up is not shorter than the training.
optim::Schedule make_schedule(const TrainConfig& config, std::size_t batches_per_epoch);

/// The same check before any worker is started, if it needs the number of images. Throws FileError
/// if the data are missing.
void require_possible_schedule(const TrainConfig& config);

}  // namespace lockstep::internal::train
