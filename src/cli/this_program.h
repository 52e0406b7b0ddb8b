// Starting this program again as the workers of a job, for transports whose ranks mpirun starts.
#pragma once

#include "launch/job.h"

#include <string>
#include <vector>

namespace lockstep::cli {

/// Whether the ranks of this transport must be started by mpirun. A world of one never needs it.
bool needs_mpirun(const std::string& transport, int workers);

/// Runs this program with these arguments under mpirun. Like launch::run_under_mpirun.
launch::JobResult run_this_program_under_mpirun(const launch::JobOptions& options,
                                                const std::vector<std::string>& arguments);

}  // namespace lockstep::cli
