// What the last bits of a run's results depend on beside its options: processor, libraries, threads
// and the way each convolution is computed. With shards all of it is part of a run's identity: it
// is recorded, and where a run goes on with other arithmetic that is said, since its bits may
// differ.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"
#include "models/safetensors.h"
#include "train/config/config.h"

#include <string>

namespace lockstep::internal::train {

/// By name: "processor" → "AMD EPYC 7B13", "threads a worker" → "1". `libraries` are
/// Engines::library_versions(). Empty without shards. Of this process: on several hosts, rank 0's.
models::Metadata numeric_environment_of(const TrainConfig& config, const engine::Engine& engine,
                                        const models::Metadata& libraries);

/// The same as metadata of a file, and back: names have a prefix there.
void add_numeric_environment(const models::Metadata& arithmetic, models::Metadata& metadata);
models::Metadata numeric_environment_in(const models::Metadata& metadata);

/// "processor was A and is B; …": what differs among what both know of. Empty if nothing does.
std::string differences(const models::Metadata& then, const models::Metadata& now);

/// The same of the lowest rank that has any, which is named unless it is 0: "rank 3: processor was
/// A and is B". Ranks go by `numbers`, if there are any. A collective; all ranks get it.
std::string differences_on_ranks(Group& group, const models::Metadata& then,
                                 const models::Metadata& now, const std::vector<int>& numbers);

}  // namespace lockstep::internal::train
