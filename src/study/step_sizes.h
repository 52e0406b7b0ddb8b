// The sizes of the arrays that one step of a run all-reduces, so that bench can measure the same.
#pragma once

#include "run/summary.h"

#include <filesystem>
#include <map>

namespace lockstep::internal::study {

/// Number of arrays by their size in bytes.
using StepSizes = std::map<std::size_t, int>;

/// The arrays that rank 0 all-reduced in the last iteration of the run's trace.json: the buckets of
/// ddp, or one array per parameter. For other methods, and without a trace, one array of all
/// gradients, which is the best case. Empty if the bytes are not known either. REQUIRES: at least
/// two workers.
StepSizes step_sizes_of(const run::Summary& summary, const std::filesystem::path& run_dir);

}  // namespace lockstep::internal::study
