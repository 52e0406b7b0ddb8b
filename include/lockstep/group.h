// Group: the ranks that talk to each other, and the handle that every collective is called on.
//
// A collective is called by all ranks of the group, in the same order, with arguments that fit.
// Before any data move the ranks compare what they called; if they differ, every rank throws the
// same MismatchError that lists each rank's call. No wait is endless: a rank that is late throws a
// TimeoutError at the others' deadline, one that died a PeerLostError within a second or so.
// After an error of these kinds the group is broken, and every later call throws that error again.
//
// Thread safety: a Group may be used from several threads, but all ranks must agree on the order of
// their collectives, which is easiest when one thread makes the calls. Asynchronous collectives run
// in order on the group's own thread; a blocking one with nothing pending runs on the caller's
// thread.
//
// Fork: a process that a rank forks may ask for rank(), size() and transport(); all else throws a
// UsageError there. However the child ends, the rank and its peers do not notice. Memory from
// allocate() is not copied by the fork: what the child writes there, the rank reads.
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

namespace comm {
class GroupCore;
}

struct GroupOptions {
  /// How long an operation may wait for its peers. Longer than the longest pause that is no fault:
  /// the slowest rank's longest step, plus a checkpoint it may be writing.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);

  /// How long ranks wait for each other while the group is made: long enough for the slowest start.
  std::chrono::milliseconds rendezvous_timeout = std::chrono::seconds(300);

  /// How the ranks of init() talk: "shm", "gloo", "mpi", "shm+gloo", "shm+mpi", or "auto": shm
  /// where all ranks share a host, else shm within hosts and gloo (under mpirun: mpi) between them.
  /// LOCKSTEP_TRANSPORT takes its place where it is "auto".
  std::string transport = "auto";

  /// The interface ("eth0") or IPv4 address over which ranks of several hosts talk. Empty: the one
  /// that leads to the rendezvous. LOCKSTEP_INTERFACE takes its place where it is empty.
  std::string interface = {};
};

/// What a rank has moved and waited since its group was made. Take the difference of two readings.
struct Counters {
  std::uint64_t operations = 0;  ///< collectives and messages that have ended
  std::uint64_t bytes = 0;       ///< bytes sent; on `direct`, read from and written for other ranks
  double seconds = 0;  ///< time inside operations, waiting included; also of a collective under way
  double wait_seconds = 0;  ///< of it, time until the slowest rank had come
};

/// A collective or a message that has ended, as an observer sees it.
struct ObservedOperation {
  std::string_view name;  ///< "all_reduce", "send"; lives as long as the program
  Algorithm algorithm = Algorithm::automatic;  ///< automatic where there is no choice
  std::uint64_t bytes = 0;  ///< of the array that each rank gives, or of the message
  int peer = -1;            ///< of a message: the other rank
  double begin = 0;         ///< seconds on the steady clock
  double end = 0;
  double wait = 0;  ///< of it, seconds until the slowest rank had come; not known for messages
};
using OperationObserver = std::function<void(const ObservedOperation&)>;

/// A small value; copies are the same member of the same group. The rank leaves the group when its
/// last copy goes away; peers that still need it then get a PeerLostError.
class Group {
 public:
  explicit Group(std::shared_ptr<comm::GroupCore> core) : core_(std::move(core)) {}

  int rank() const;
  int size() const;
  /// "thread", "shm", "gloo", "mpi", "shm+gloo" or "shm+mpi".
  std::string_view transport() const;

  /// Memory that `direct` collectives work on in place. A collective: all ranks ask for the same
  /// size.
  Memory allocate(std::size_t bytes);

  // The collectives. Each has an asynchronous twin, whose arrays belong to it until its Work was
  // waited for: the call does not compile for a temporary vector. A null pointer with a length is a
  // UsageError. `automatic` picks the algorithm by what the transport can do, the length and the
  // number of ranks; asking for one that an operation or a transport does not have is a UsageError.

  /// Combines all ranks' arrays element by element; all ranks get the result, the same to the bit.
  /// Algorithms: star, tree, ring, halving-doubling, direct, hierarchical, native.
  void all_reduce(ArrayView data, ReduceOp op = ReduceOp::sum,
                  Algorithm algorithm = Algorithm::automatic);
  Work all_reduce_async(ArrayView data, ReduceOp op = ReduceOp::sum,
                        Algorithm algorithm = Algorithm::automatic);

  /// Combines all ranks' arrays; only root gets the result, and `data` is scratch elsewhere.
  /// Algorithms: star, tree.
  void reduce(ArrayView data, ReduceOp op = ReduceOp::sum, int root = 0,
              Algorithm algorithm = Algorithm::automatic);
  Work reduce_async(ArrayView data, ReduceOp op = ReduceOp::sum, int root = 0,
                    Algorithm algorithm = Algorithm::automatic);

  /// Combines all ranks' arrays of size() × mine.count elements; rank r gets part r. Algorithms:
  /// ring, halving-doubling, direct, native.
  void reduce_scatter(ConstArrayView all, ArrayView mine, ReduceOp op = ReduceOp::sum,
                      Algorithm algorithm = Algorithm::automatic);
  Work reduce_scatter_async(AsyncConstArrayView all, ArrayView mine, ReduceOp op = ReduceOp::sum,
                            Algorithm algorithm = Algorithm::automatic);

  /// Copies root's array to all ranks. Algorithms: star, tree, direct.
  void broadcast(ArrayView data, int root = 0, Algorithm algorithm = Algorithm::automatic);
  Work broadcast_async(ArrayView data, int root = 0, Algorithm algorithm = Algorithm::automatic);

  /// All ranks get all ranks' arrays in rank order. `all` holds size() × mine.count elements;
  /// `mine` may be this rank's part of it. Algorithms: ring, direct.
  void all_gather(ConstArrayView mine, ArrayView all, Algorithm algorithm = Algorithm::automatic);
  Work all_gather_async(AsyncConstArrayView mine, ArrayView all,
                        Algorithm algorithm = Algorithm::automatic);

  /// Root gets all ranks' arrays in rank order. `all` holds size() × mine.count elements on root;
  /// it is ignored elsewhere.
  void gather(ConstArrayView mine, ArrayView all, int root = 0);
  Work gather_async(AsyncConstArrayView mine, ArrayView all, int root = 0);

  /// The reverse of gather: each rank gets its part of root's array.
  void scatter(ConstArrayView all, ArrayView mine, int root = 0);
  Work scatter_async(AsyncConstArrayView all, ArrayView mine, int root = 0);

  /// Returns when all ranks have called it.
  void barrier();
  Work barrier_async();

  /// Messages between two ranks, matched by (sender, tag) in the order they were sent. Receiver and
  /// sender must name the same number of bytes. A send may wait for its receiver. REQUIRES: tag >=
  /// 0.
  void send(ConstArrayView data, int to, int tag = 0);
  void recv(ArrayView data, int from, int tag = 0);
  Work isend(AsyncConstArrayView data, int to, int tag = 0);
  Work irecv(ArrayView data, int from, int tag = 0);

  /// Splits the group: ranks that name the same color form a new one, in the order of (key, rank).
  /// A collective: every rank calls it, and is in exactly one of the new groups. They live on their
  /// own. REQUIRES: color >= 0.
  Group split(int color, int key = 0);

  /// Whether all_reduce has this algorithm on this group's transport.
  bool has(Algorithm algorithm) const;

  Counters counters() const;

  /// From now on `observer` is told of every operation that ended well, on the thread that ran it
  /// (of a message: that waited for it first). An empty one ends that; once this returns, the one
  /// before is not being called any more. It must not throw, nor use the
  /// group.
  void observe(OperationObserver observer);

  /// What is behind it, for Lockstep's own use.
  const std::shared_ptr<comm::GroupCore>& core() const { return core_; }

 private:
  std::shared_ptr<comm::GroupCore> core_;
};

/// Runs `body` on `size` ranks that are threads of this process, each with its member of one group,
/// and returns when all have ended. If ranks throw, rethrows the error of the one that failed
/// first.
void run_threads(int size, const std::function<void(Group)>& body,
                 const GroupOptions& options = {});

}  // namespace lockstep
