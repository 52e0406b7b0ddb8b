// Prints the results of a training run.
#pragma once

#include "run/summary.h"

#include <filesystem>

namespace lockstep::internal::cli {

/// The run is recorded in `run_dir`. `epochs`: also the results of every epoch and rank.
void print_summary(const run::Summary& summary, const std::filesystem::path& run_dir, bool epochs);

}  // namespace lockstep::internal::cli
