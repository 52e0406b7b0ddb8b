// The options of engines in a run.
#pragma once

#include "engine/engines.h"
#include "train/config/config.h"

namespace lockstep::internal::train {

/// For a worker that computes one of `shards` shards at a time.
engine::EngineOptions engine_options(const TrainConfig& config, const data::ImageShape& images,
                                     int shards);

}  // namespace lockstep::internal::train
