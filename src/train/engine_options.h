// What a run asks of its engines.
#pragma once

#include "engine/make_engine.h"
#include "train/config.h"

namespace lockstep::train {

/// Of one of `ranks` workers.
engine::EngineOptions engine_options(const TrainConfig& config, const data::ImageShape& images,
                                     int ranks);

}  // namespace lockstep::train
