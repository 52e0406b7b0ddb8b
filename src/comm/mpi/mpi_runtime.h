// MpiRuntime: this process's one connection to MPI, shared by everything that uses it.
//
// MPI accesses the arrays of unfinished operations from inside any MPI call, and cannot cancel most
// operations. If an operation has to be abandoned, the runtime is therefore shut down for good:
// from then on no thread of Lockstep enters MPI, and the arrays that MPI still holds are never
// accessed.
#pragma once

#include "base/deadline.h"
#include "base/fork.h"

#include <atomic>
#include <shared_mutex>
#include <string>

namespace lockstep::internal::comm {

/// Whether this build has MPI. If not, every other function here throws UsageError.
bool mpi_built();

/// "Open MPI v4.1.4, …"; empty if this build has no MPI. Does not start MPI.
std::string mpi_version();

/// Thread safety: any thread.
class MpiRuntime {
 public:
  /// Starts MPI on first use with MPI_THREAD_MULTIPLE, or uses the MPI that the program has
  /// started. MPI_Finalize is called when the process exits, unless the program started MPI itself
  /// or a peer is lost, for which it would wait. Throws Error if MPI's thread level is too low.
  static MpiRuntime& instance();

  int world_rank() const { return rank_; }
  int world_size() const { return size_; }

  /// Returns rank 0's text on every rank. A collective of all ranks of the world. Throws
  /// TimeoutError.
  std::string broadcast(std::string from_rank_zero, const Deadline& deadline);

  /// Hold the result while inside MPI. Throws Error if the runtime was shut down, or in a forked
  /// child.
  using Visit = std::shared_lock<std::shared_mutex>;
  Visit enter();

  /// Skips MPI_Finalize, which waits for every peer, because a peer may be lost. The peers are
  /// told, and skip it too.
  void skip_finalize() noexcept;

  /// Returns when no thread of Lockstep is inside MPI; none will enter it again. `why` is the
  /// reason in later errors.
  void shut(const std::string& why);

  /// Number of existing wires; MPI is not finalized while there are any.
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
  std::string shut_because_;  ///< guarded by door_; empty while the runtime is open
};

}  // namespace lockstep::internal::comm
