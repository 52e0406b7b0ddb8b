// How long a run's training is, and its learning rate on the way: what follows from its options
// once the number of images is known.
#pragma once

#include "optim/schedule.h"
#include "train/config/config.h"

#include <cstddef>

namespace lockstep::internal::train {

/// Steps until the epochs or the iterations that were asked for have been trained.
std::size_t planned_iterations(const TrainConfig& config, std::size_t batches_per_epoch);

/// Throws UsageError where the warm-up is not shorter than the training.
optim::Schedule make_schedule(const TrainConfig& config, std::size_t batches_per_epoch);

/// The same, before any worker is started, where only the data tell. Throws FileError if they are
/// not there.
void require_possible_schedule(const TrainConfig& config);

}  // namespace lockstep::internal::train
