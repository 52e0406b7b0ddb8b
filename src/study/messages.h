// What one step of a run brings together, so that bench can be asked to do the same.
#pragma once

#include "train/summary.h"

#include <filesystem>
#include <map>

namespace lockstep::study {

/// Bytes of an array, and how many such arrays.
using Messages = std::map<std::size_t, int>;

/// The arrays that rank 0 all-reduced in the last iteration of the run's trace.json: ddp's buckets,
/// or one for each parameter. For methods that go through rank 0, and where there is no trace, one
/// array of all gradients: what the best of all ways would be given. Empty where the bytes are not
/// known either. REQUIRES: several workers.
Messages messages_of(const train::Summary& summary, const std::filesystem::path& run_dir);

}  // namespace lockstep::study
