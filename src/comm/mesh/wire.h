// Wire: moves the bytes of a network transport. It is a narrow abstract class, implemented in gloo/
// and mpi/. MeshTransport makes it safe: before the wire moves data, both ends have agreed on the
// length, and the control mesh watches both.
#pragma once

#include <lockstep/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace lockstep::internal::comm {

/// Transfers between two ranks are matched by slot, and within a slot in the order in which they
/// were started.
using Slot = std::uint32_t;
constexpr Slot kCollectiveSlot = 0;  ///< collectives run one at a time, so one slot is enough
/// The user's messages to a rank have slots 1 … kMessageSlots. A message keeps its slot until its
/// receive has been started, so that no two can be confused. When all slots are taken, further
/// messages wait at their sender, which bounds the memory for messages that a rank did not ask for.
constexpr Slot kMessageSlots = 4096;

/// A running send or receive. Destroying it abandons it: its bytes are not touched any more. Thread
/// safety: any thread, several at once.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Whether the transfer is done. Throws Error if the wire broke.
  virtual bool done() = 0;

  /// Waits until the transfer is done, at most `slice`; returns whether it is. Throws like done.
  virtual bool wait_for(std::chrono::milliseconds slice) = 0;

  /// Abandons the transfer while other threads may still refer to it. REQUIRES: the wire is closed,
  /// so that waiting threads get an error. A wire that moves nothing once it is closed may do
  /// nothing here.
  virtual void give_up() {}
};

/// Called repeatedly while a thread waits; throws to end the wait.
using Watch = std::function<void()>;

/// The collectives of the wire's own library. All ranks call the same one with matching arguments;
/// each call returns when it is done and calls `watch` at least every 50 ms until then. `average`
/// divides by the number of ranks. Sums of float16 and bfloat16 are computed in float32.
class NativeCollectives {
 public:
  virtual ~NativeCollectives() = default;
  virtual void all_reduce(ArrayView data, ReduceOp op, const Watch& watch) = 0;
  virtual void reduce(ArrayView data, ReduceOp op, int root, const Watch& watch) = 0;
  virtual void reduce_scatter(ConstArrayView all, ArrayView mine, ReduceOp op,
                              const Watch& watch) = 0;
  virtual void broadcast(ArrayView data, int root, const Watch& watch) = 0;
  virtual void all_gather(ConstArrayView mine, ArrayView all, const Watch& watch) = 0;
  virtual void gather(ConstArrayView mine, ArrayView all, int root, const Watch& watch) = 0;
  virtual void scatter(ConstArrayView all, ArrayView mine, int root, const Watch& watch) = 0;
};

/// Thread safety: any thread.
class Wire {
 public:
  virtual ~Wire() = default;

  /// "gloo" or "mpi".
  virtual std::string_view name() const = 0;

  /// REQUIRES: the peer is another rank of the group, the other end passes the same length, and the
  /// length is not 0. Throws Error if the connection to the peer is broken.
  virtual std::shared_ptr<Transfer> send(int to, Slot slot, std::span<const std::byte> data) = 0;
  virtual std::shared_ptr<Transfer> receive(int from, Slot slot, std::span<std::byte> data) = 0;

  /// Stops all data movement: running and later transfers throw.
  virtual void close() = 0;

  /// Null if the library has no collectives, or they cannot be interrupted.
  virtual NativeCollectives* native() { return nullptr; }
};

}  // namespace lockstep::internal::comm
