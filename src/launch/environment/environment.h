// How a process learns its place in a run: from variables set by its launcher.
#pragma once

#include "base/net/socket.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace lockstep::internal::launch {

/// How the ranks of a run find each other.
enum class Bootstrap {
  none,       ///< a world of one rank
  launcher,   ///< a launcher serves the rendezvous at Place::rendezvous
  rank_zero,  ///< rank 0 serves the rendezvous there
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
  std::string token;  ///< LOCKSTEP_TOKEN: the secret that all ranks of the run know; may be empty
  /// LOCKSTEP_RUN: the run's identity, if Lockstep's launcher serves the rendezvous.
  std::string run;
  /// LOCKSTEP_TRANSPORT: default for a program that does not choose; may be empty.
  std::string transport;
  /// LOCKSTEP_INTERFACE: default for a program that does not choose; may be empty.
  std::string interface;
};

/// A variable's value, if it is set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> process_variable(const std::string& name);

/// Looks for a rank and a size in this order: LOCKSTEP_* (set by `lockstep launch`), torchrun's,
/// Open MPI's, PMI's (MPICH, Intel MPI), Slurm's; docs/launch.md lists the variables. Without any
/// of them: a world of one rank. Throws UsageError for a rank without a size, a size without a
/// rank, or a rank outside the world.
Place find_place(const Variables& variables = process_variable);

/// LOCKSTEP_RESTART: how often this run's launcher has restarted it; 0 if never. Throws UsageError
/// if it is not a valid number.
int restarts_so_far(const Variables& variables = process_variable);

/// LOCKSTEP_ELASTIC: the initial number of workers if the run survives lost workers; else empty.
/// Workers whose rank is not below it joined later. Throws UsageError if it is not a valid number.
std::optional<int> elastic_workers(const Variables& variables = process_variable);

/// The variables that a launcher sets for one of its workers: LOCKSTEP_*, and torchrun's variables
/// for its place.
std::map<std::string, std::string> variables_for(const Place& place);

// Shared by the files that read the variables of one launcher.

/// Rank and size from two variables; empty if neither is set.
std::optional<Place> rank_and_size(const Variables& variables, const std::string& rank_name,
                                   const std::string& size_name);

/// Fills in the local rank and the local size, each if its variable is set. Throws UsageError if
/// they contradict.
void read_local(const Variables& variables, const std::string& rank_name,
                const std::string& size_name, Place& place);

}  // namespace lockstep::internal::launch
