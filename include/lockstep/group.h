// Group: a set of ranks, and the handle that every collective and message is called on.
//
// Collectives: all ranks of the group make the same calls, in the same order, with matching
// arguments. Ranks compare their calls before data move. If they differ, every rank throws the same
// MismatchError, which lists each rank's call.
//
// Deadlines: no wait is endless. If a rank is late, the others throw a TimeoutError at their
// deadline. If it died, they throw a PeerLostError within about a second. After a MismatchError,
// TimeoutError or PeerLostError the group is broken, and every later call throws that error again.
//
// Thread safety: several threads may use a Group, but all ranks must agree on the order of their
// collectives, which is easiest if one thread makes the calls. Asynchronous collectives run in
// order on the group's own thread. A blocking one runs on the caller's thread if nothing is
// pending.
//
// Fork: a process that a rank forks may call rank(), size() and transport(); other calls throw
// UsageError there. The rank and its peers do not notice how the child ends. Memory from allocate()
// is shared with the child, not copied.
#pragma once

#include <lockstep/memory.h>
#include <lockstep/types.h>
#include <lockstep/work.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace lockstep {

namespace internal::comm {
class GroupCore;
}

/// Options of init() and run_threads(). All ranks give the same.
struct GroupOptions {
  /// How long an operation waits for other ranks. Must be longer than the longest normal pause of a
  /// rank: its slowest step, plus a checkpoint that it may write.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);

  /// How long ranks wait for each other while the group is made. Must be longer than the slowest
  /// start of a rank.
  std::chrono::milliseconds rendezvous_timeout = std::chrono::seconds(300);

  /// The transport of init(): "shm", "gloo", "mpi", "shm+gloo", "shm+mpi", or "auto": shm if all
  /// ranks share a host, else shm within hosts and gloo (under mpirun: mpi) between them. If it is
  /// "auto", the environment variable LOCKSTEP_TRANSPORT replaces it.
  std::string transport = "auto";

  /// The network interface ("eth0") or IPv4 address that connects ranks of several hosts. Empty:
  /// the one that leads to the rendezvous. If it is empty, the environment variable
  /// LOCKSTEP_INTERFACE replaces it.
  std::string interface = {};
};

/// What this rank has sent and waited since its group was made. Take the difference of two
/// readings.
struct Counters {
  std::uint64_t operations = 0;  ///< collectives and messages that have ended
  std::uint64_t bytes = 0;       ///< bytes sent; on `direct`, read from and written for other ranks
  double seconds = 0;  ///< time inside operations, waiting included; also of a collective under way
  double wait_seconds = 0;  ///< part of `seconds` before the slowest rank arrived
};

/// A collective or a message that has ended, as an observer gets it.
struct ObservedOperation {
  std::string_view name;                       ///< "all_reduce", "send" …; a string constant
  Algorithm algorithm = Algorithm::automatic;  ///< automatic for operations without a choice
  std::uint64_t bytes = 0;  ///< size of the array that each rank passed, or of the message
  int peer = -1;            ///< the other rank of a message; -1 for a collective
  double begin = 0;         ///< seconds on the steady clock
  double end = 0;           ///< seconds on the steady clock
  double wait = 0;          ///< seconds before the slowest rank arrived; 0 for messages
};
/// See Group::observe().
using OperationObserver = std::function<void(const ObservedOperation&)>;

/// The communicator: a set of ranks, and this rank's membership in it. A small value; copies are
/// the same member of the same group. The rank leaves the group when its last copy is destroyed.
/// Other ranks that still need it then get a PeerLostError.
class Group {
 public:
  /// For Lockstep's own use: groups come from init(), run_threads() and split().
  explicit Group(std::shared_ptr<internal::comm::GroupCore> core) : core_(std::move(core)) {}

  /// The number of this rank, from 0.
  int rank() const;
  /// The number of ranks.
  int size() const;
  /// "thread", "shm", "gloo", "mpi", "shm+gloo" or "shm+mpi".
  std::string_view transport() const;

  /// A collective. Returns memory on which `direct` collectives work in place. All ranks request
  /// the same size.
  Memory allocate(std::size_t bytes);

  // The collectives. Each has an asynchronous twin. The arrays of an asynchronous call belong to it
  // until its Work was waited for; a temporary vector does not compile.
  //
  // `automatic` chooses the algorithm by transport, length and number of ranks. A null pointer with
  // a length, or an algorithm that the operation or the transport does not have, throws UsageError.

  /// Combines the arrays of all ranks element by element; every rank gets the result, the same to
  /// the bit. Algorithms: star, tree, ring, halving-doubling, direct, hierarchical, native.
  void all_reduce(ArrayView data, ReduceOp op = ReduceOp::sum,
                  Algorithm algorithm = Algorithm::automatic);
  /// Starts an all_reduce().
  Work all_reduce_async(ArrayView data, ReduceOp op = ReduceOp::sum,
                        Algorithm algorithm = Algorithm::automatic);

  /// Combines the arrays of all ranks; root gets the result. The array of every other rank has
  /// undefined values afterwards. Algorithms: star, tree, native.
  void reduce(ArrayView data, ReduceOp op = ReduceOp::sum, int root = 0,
              Algorithm algorithm = Algorithm::automatic);
  /// Starts a reduce().
  Work reduce_async(ArrayView data, ReduceOp op = ReduceOp::sum, int root = 0,
                    Algorithm algorithm = Algorithm::automatic);

  /// Combines the arrays `all` of all ranks, of size() × mine.count elements; rank r gets part r of
  /// the result in `mine`. Algorithms: ring, halving-doubling, direct, native.
  void reduce_scatter(ConstArrayView all, ArrayView mine, ReduceOp op = ReduceOp::sum,
                      Algorithm algorithm = Algorithm::automatic);
  /// Starts a reduce_scatter().
  Work reduce_scatter_async(AsyncConstArrayView all, ArrayView mine, ReduceOp op = ReduceOp::sum,
                            Algorithm algorithm = Algorithm::automatic);

  /// Copies root's array to all ranks. Algorithms: star, tree, direct, native.
  void broadcast(ArrayView data, int root = 0, Algorithm algorithm = Algorithm::automatic);
  /// Starts a broadcast().
  Work broadcast_async(ArrayView data, int root = 0, Algorithm algorithm = Algorithm::automatic);

  /// Every rank gets the arrays of all ranks in `all`, in rank order. `all` has size() × mine.count
  /// elements; `mine` may be this rank's part of it. Algorithms: ring, direct, native.
  void all_gather(ConstArrayView mine, ArrayView all, Algorithm algorithm = Algorithm::automatic);
  /// Starts an all_gather().
  Work all_gather_async(AsyncConstArrayView mine, ArrayView all,
                        Algorithm algorithm = Algorithm::automatic);

  /// Root gets the arrays of all ranks in `all`, in rank order. On root `all` has size() ×
  /// mine.count elements; on other ranks it is ignored.
  void gather(ConstArrayView mine, ArrayView all, int root = 0);
  /// Starts a gather().
  Work gather_async(AsyncConstArrayView mine, ArrayView all, int root = 0);

  /// The reverse of gather(): rank r gets part r of root's array `all` in `mine`.
  void scatter(ConstArrayView all, ArrayView mine, int root = 0);
  /// Starts a scatter().
  Work scatter_async(AsyncConstArrayView all, ArrayView mine, int root = 0);

  /// Returns when all ranks have called it.
  void barrier();
  /// Starts a barrier().
  Work barrier_async();

  // Messages between two ranks. They are matched by sender and tag, in the order in which they were
  // sent, and are not part of the order of collectives. Sender and receiver must name the same
  // number of bytes. REQUIRES: tag >= 0.

  /// Sends an array to rank `to`. May block until the receiver has called recv().
  void send(ConstArrayView data, int to, int tag = 0);
  /// Receives an array from rank `from`.
  void recv(ArrayView data, int from, int tag = 0);
  /// Starts a send(). Never blocks.
  Work isend(AsyncConstArrayView data, int to, int tag = 0);
  /// Starts a recv().
  Work irecv(ArrayView data, int from, int tag = 0);

  /// A collective. Ranks that pass the same color form a new group, numbered by (key, rank). Every
  /// rank is in exactly one of the new groups. A new group is independent of this one.
  /// REQUIRES: color >= 0.
  Group split(int color, int key = 0);

  /// Whether all_reduce() has this algorithm on this group's transport.
  bool has(Algorithm algorithm) const;

  /// What this rank has sent and waited so far. Any thread.
  Counters counters() const;

  /// From now on `observer` is called after every operation that ended without an error, on the
  /// thread that ran it (for a message: the thread that waited for it first). It replaces the
  /// observer before, which is not called any more once this returns; an empty one removes it. It
  /// must not throw, nor use the group.
  void observe(OperationObserver observer);

  /// For Lockstep's own use.
  const std::shared_ptr<internal::comm::GroupCore>& core() const { return core_; }

 private:
  std::shared_ptr<internal::comm::GroupCore> core_;
};

/// Runs `body` on `size` ranks that are threads of this process, each with its member of one group.
/// Returns when all have ended. If ranks throw, rethrows the error of the rank that failed first.
void run_threads(int size, const std::function<void(Group)>& body,
                 const GroupOptions& options = {});

}  // namespace lockstep
