// How a process learns its place in a run: from variables that its launcher set.
#pragma once

#include "base/socket.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace lockstep::launch {

/// How the ranks of a run find each other.
enum class Bootstrap {
  none,       ///< a world of one: there is nobody to find
  launcher,   ///< a launcher serves the rendezvous at Place::rendezvous
  rank_zero,  ///< rank 0 has to serve it there
  mpi,        ///< started by mpirun or mpiexec: MPI itself exchanges the address
};

/// A process's place in a run.
struct Place {
  int rank = 0;
  int size = 1;
  Bootstrap bootstrap = Bootstrap::none;
  Address rendezvous;             ///< unused for none and mpi
  std::optional<int> local_rank;  ///< among the ranks of this host, if the launcher said it
  std::optional<int> local_size;  ///< how many ranks this host has, if the launcher said it
  std::string token;              ///< LOCKSTEP_TOKEN: what all ranks of the run know; may be empty
  std::string
      run;  ///< LOCKSTEP_RUN: the run's identity, if a launcher of ours serves the rendezvous
  std::string transport;  ///< LOCKSTEP_TRANSPORT: where the program leaves it open; may be empty
  std::string interface;  ///< LOCKSTEP_INTERFACE: likewise
};

/// A variable's value, if it is set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> process_variable(const std::string& name);

/// Looks for a rank and a size in this order: LOCKSTEP_* (`lockstep launch` sets them), torchrun's,
/// Open MPI's, PMI's (MPICH, Intel MPI), Slurm's; docs/launch.md lists the variables. None of them:
/// a world of one. Throws UsageError for a rank without a size, a size without a rank, or a rank
/// outside the world.
Place find_place(const Variables& variables = process_variable);

/// LOCKSTEP_RESTART: how often this run's launcher has started it again; 0 if it has not. Throws
/// UsageError if it is not such a number.
int restarts_so_far(const Variables& variables = process_variable);

/// LOCKSTEP_ELASTIC: how many workers the run began with, if it goes on without those that it
/// loses; else nothing. Workers whose rank is not below it have joined later. Throws UsageError if
/// it is not such a number.
std::optional<int> elastic_workers(const Variables& variables = process_variable);

/// What a launcher sets for one of its workers: LOCKSTEP_*, and torchrun's variables that follow
/// from its place.
std::map<std::string, std::string> variables_for(const Place& place);

// What the files that read one launcher's variables share.

/// Rank and size from two variables; nothing if neither is set.
std::optional<Place> rank_and_size(const Variables& variables, const std::string& rank_name,
                                   const std::string& size_name);

/// Fills in the rank among this host's and their number, each if its variable is set. Throws
/// UsageError if they do not fit.
void read_local(const Variables& variables, const std::string& rank_name,
                const std::string& size_name, Place& place);

}  // namespace lockstep::launch
