// Starting workers through mpirun, for the transport `mpi`: the program is started again, once for
// every rank, and finds its place in the variables that Open MPI sets.
#pragma once

#include "launch/job.h"

#include <string>
#include <vector>

namespace lockstep::launch {

/// The words that start `command` on `workers` processes of this host under Open MPI's mpirun.
std::vector<std::string> mpirun_command(int workers, const std::vector<std::string>& command);

/// Runs a program on `workers` processes of this host under mpirun. Like run_program: SIGINT and
/// SIGTERM are passed on (see JobOptions::interrupt_gently), survivors of a failure have `grace` to
/// say who failed, and the result tells how every rank ended (`pid` too). Throws UsageError if
/// mpirun is not installed or the program cannot be started.
JobResult run_under_mpirun(const JobOptions& options, const std::vector<std::string>& command);

}  // namespace lockstep::launch
