// MpiRuntime: this process's one connection to MPI, shared by everything that uses it.
//
// MPI touches the arrays of unfinished operations from inside any MPI call, and has no way to take
// most operations back. So whoever must leave one behind shuts the runtime for good: from then on
// no thread of Lockstep enters MPI again, and what MPI still holds is never touched.
#pragma once

#include "base/deadline.h"
#include "base/fork.h"

#include <atomic>
#include <shared_mutex>
#include <string>

namespace lockstep::comm {

/// Whether this build has MPI. Where it has not, everything else here throws UsageError.
bool mpi_built();

/// "Open MPI v4.1.4, …", or "" where MPI is not built. Does not start MPI.
std::string mpi_version();

/// Any thread may call it.
class MpiRuntime {
 public:
  /// Starts MPI on first use, with MPI_THREAD_MULTIPLE, or takes what the user's program has
  /// started. MPI_Finalize is called when the process exits, unless the program started MPI itself,
  /// or it would wait for a peer that is lost. Throws Error where MPI gives too little.
  static MpiRuntime& instance();

  int world_rank() const { return rank_; }
  int world_size() const { return size_; }

  /// Returns rank 0's text on every rank. All ranks of the world call it. Throws TimeoutError.
  std::string broadcast(std::string from_rank_zero, const Deadline& deadline);

  /// Held by whoever is inside MPI. Throws Error if the runtime was shut, or in a forked child.
  using Visit = std::shared_lock<std::shared_mutex>;
  Visit enter();

  /// MPI_Finalize waits for every peer, so it is left out once one of them may be lost. The peers
  /// are told, and leave it out too.
  void skip_finalize() noexcept;

  /// Returns when no thread of Lockstep is inside MPI; none will ever be again. `why` is what
  /// others are told.
  void shut(const std::string& why);

  /// Wires that exist; MPI is not finalized under them.
  void count_wire(int difference) { wires_ += difference; }

 private:
  MpiRuntime();
  static void at_exit();
  void warn_peers();
  bool all_will_finalize();

  int rank_ = 0;
  int size_ = 1;
  bool started_here_ = false;
  const OwnerProcess owner_;
  std::atomic<bool> finalize_ = true;
  std::atomic<int> wires_ = 0;
  std::shared_mutex door_;
  std::string shut_because_;  ///< guarded by door_; empty while open
};

}  // namespace lockstep::comm
