// Starts workers through mpirun, for the transport `mpi`: the program is started once per rank, and
// finds its place in the variables set by Open MPI.
#pragma once

#include "launch/job.h"

#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// The command line that starts `command` in `workers` processes of this host under Open MPI's
/// mpirun.
std::vector<std::string> mpirun_command(int workers, const std::vector<std::string>& command);

/// Runs a program in `workers` processes of this host under mpirun. Like run_program: SIGINT and
/// SIGTERM are forwarded (see JobOptions::interrupt_gently), survivors of a failure have `grace` to
/// report the failed rank, and the result has every rank's exit status and pid. Throws UsageError
/// if mpirun is not installed or the program cannot be started.
JobResult run_under_mpirun(const JobOptions& options, const std::vector<std::string>& command);

}  // namespace lockstep::internal::launch
