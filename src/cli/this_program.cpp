#include "cli/this_program.h"

#include "launch/mpirun.h"

#include <filesystem>

namespace lockstep::internal::cli {

bool needs_mpirun(const std::string& transport, int workers) {
  return workers > 1 && (transport == "mpi" || transport == "shm+mpi");
}

launch::JobResult run_this_program_under_mpirun(const launch::JobOptions& options,
                                                const std::vector<std::string>& arguments) {
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return launch::run_under_mpirun(options, command);
}

}  // namespace lockstep::internal::cli
