// Starting this program again as the workers of a job, for transports whose ranks mpirun starts.
#pragma once

#include "launch/outcome.h"

#include <string>
#include <vector>

namespace lockstep::cli {

/// Whether the ranks of this transport must be started by mpirun. A world of one never needs it.
bool needs_mpirun(const std::string& transport, int workers);

/// Runs this program with these arguments on `workers` processes under mpirun. Throws like
/// launch::run_under_mpirun.
launch::JobResult run_this_program_under_mpirun(int workers,
                                                const std::vector<std::string>& arguments);

}  // namespace lockstep::cli
