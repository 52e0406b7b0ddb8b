// The numeric environment: everything except the options that the last bits of a run's results
// depend on. It has the processor, the libraries, the threads, and the method of each convolution.
// Runs with shards record it, and report a different one when they resume.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"
#include "models/safetensors.h"
#include "train/config/config.h"

#include <string>

namespace lockstep::internal::train {

/// By name: "processor" → "AMD EPYC 7B13", "threads a worker" → "1". `libraries` are
/// Engines::library_versions(). Empty without shards. It describes this process; a run on several
/// hosts records that of rank 0.
models::Metadata numeric_environment_of(const TrainConfig& config, const engine::Engine& engine,
                                        const models::Metadata& libraries);

/// Adds it to the metadata of a file, with a prefix before each name, and reads it back.
void add_numeric_environment(const models::Metadata& environment, models::Metadata& metadata);
models::Metadata numeric_environment_in(const models::Metadata& metadata);

/// "processor was A and is B; …": the values that differ, of names that both have. Empty if none
/// differs.
std::string differences(const models::Metadata& then, const models::Metadata& now);

/// The differences of the lowest rank that has any. Any rank except 0 is named: "rank 3: processor
/// was A and is B". `numbers` has the names of the ranks; if it is empty, these are their numbers.
/// A collective; all ranks get the same text.
std::string differences_on_ranks(Group& group, const models::Metadata& then,
                                 const models::Metadata& now, const std::vector<int>& numbers);

}  // namespace lockstep::internal::train
