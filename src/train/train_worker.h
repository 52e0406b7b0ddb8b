// train_worker: training as one rank of a group, for the command and the tests.
#pragma once

#include <lockstep/group.h>

#include "engine/engines.h"
#include "run/summary.h"
#include "train/config/config.h"
#include "train/progress.h"

namespace lockstep::internal::train {

struct ElasticMember;

/// Trains as one rank of the group; all ranks call it with the same configuration. Rank 0 writes
/// the run folder and the weights, and returns the run's summary; other ranks return an empty one.
/// If any rank is asked to stop, all stop after the same step, and rank 0 writes a checkpoint and
/// throws StoppedError.
///
/// With `elastic`, training continues from elastic->state, if there is one; whenever this function
/// throws, it leaves the newest state there. See elastic/run_state.h.
run::Summary train_worker(Group group, const engine::Engines& engines, const TrainConfig& config,
                          Progress& progress, const StopAsked& stop_asked = {},
                          ElasticMember* elastic = nullptr);

}  // namespace lockstep::internal::train
