// Starts this program again under mpirun, for transports whose ranks mpirun must start.
#pragma once

#include "launch/job.h"

#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// Whether mpirun must start the ranks of this transport. A single worker never needs it.
bool needs_mpirun(const std::string& transport, int workers);

/// Runs this program with these arguments under mpirun. Like launch::run_under_mpirun.
launch::JobResult run_this_program_under_mpirun(const launch::JobOptions& options,
                                                const std::vector<std::string>& arguments);

}  // namespace lockstep::internal::cli
