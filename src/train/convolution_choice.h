// How the convolutions of a run are computed: one choice for all workers, who would measure
// different times and then not do the same arithmetic.
#pragma once

#include <lockstep/group.h>

#include "data/images.h"
#include "train/config.h"
#include "train/worker.h"

namespace lockstep::train {

/// The configuration with `methods` filled in, if it leaves them to measurement: those that the run
/// began with if it is resumed, or else what rank 0 has measured, now or earlier, while the others
/// sleep. A collective.
TrainConfig with_convolution_choice(Group& group, const TrainConfig& config,
                                    const data::ImageShape& images, Progress& progress);

}  // namespace lockstep::train
