// How the convolutions of a run are computed: one choice for all workers. If each measured for
// itself, they could choose differently and compute different results.
#pragma once

#include <lockstep/group.h>

#include "data/images.h"
#include "engine/engines.h"
#include "train/config/config.h"
#include "train/progress.h"

namespace lockstep::internal::train {

/// The configuration with `methods` filled in, if they are to be measured: from the run folder for
/// a resumed run; else rank 0 measures them, or reads the results of earlier measurements, while
/// the other ranks wait. A collective.
TrainConfig with_convolution_choice(Group& group, const engine::Engines& engines,
                                    const TrainConfig& config, const data::ImageShape& images,
                                    Progress& progress);

}  // namespace lockstep::internal::train
