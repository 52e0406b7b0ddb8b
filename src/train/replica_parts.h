// The parts of a Replica as a run's configuration asks for them.
#pragma once

#include <lockstep/group.h>

#include "data/images.h"
#include "engine/engines.h"
#include "train/config/config.h"
#include "train/replica.h"

namespace lockstep::internal::train {

/// `group` is the group that the replica will train in. Initial weights are those of config.init,
/// or drawn from the seed. Includes the deliberate faults of config.mistake and config.slow. The
/// configuration and the engines must outlive the replica. A collective.
ReplicaParts replica_parts(Group group, const TrainConfig& config, const data::ImageShape& images,
                           const engine::Engines& engines);

}  // namespace lockstep::internal::train
