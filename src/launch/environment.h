// How a process learns its place in a run: from variables that its launcher set.
#pragma once

#include "launch/socket.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace lockstep::launch {

/// A process's place in a run.
struct Place {
  int rank = 0;
  int size = 1;
  Address rendezvous;  ///< unused in a world of one
  /// Whether rank 0 has to serve the rendezvous because no launcher does.
  bool rank_zero_serves = false;
};

/// A variable's value, if it is set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> process_variable(const std::string& name);

/// Looks for LOCKSTEP_RANK, LOCKSTEP_WORLD_SIZE and LOCKSTEP_RENDEZVOUS (`lockstep launch` sets
/// them), then for torchrun's RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. None of them: a world
/// of one. Throws UsageError for a rank without a size, a size without a rank, a rank outside the
/// world, or a launcher that is not supported.
Place find_place(const Variables& variables = process_variable);

/// What a launcher sets for one of its workers.
std::map<std::string, std::string> variables_for(const Place& place);

/// Threads each of `workers` gets when they share this machine's cores: at least 1.
int threads_per_worker(int workers);

}  // namespace lockstep::launch
