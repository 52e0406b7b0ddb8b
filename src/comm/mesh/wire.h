// Wire: what moves the bytes of a network transport. One narrow abstract class; gloo/ and mpi/
// implement it. What makes it safe stands above it, in MeshTransport: by the time the wire is asked
// to move something, both ends have agreed on its length, and somebody watches over both.
#pragma once

#include <lockstep/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace lockstep::comm {

/// Transfers between two ranks are matched by slot, and within a slot in the order they were
/// started.
using Slot = std::uint32_t;
constexpr Slot kCollectiveSlot = 0;  ///< collectives run one at a time: one slot does
/// The user's messages to a rank have slots 1 … this. A message keeps its slot until its receive
/// has been started, so that no two can be confused; with all slots taken, more messages wait at
/// their sender. That bounds what a rank has to keep of messages that it did not ask for.
constexpr Slot kMessageSlots = 4096;

/// A send or a receive under way. Destroying it gives it up: its bytes are not touched any more.
/// Any thread, several at once.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Whether it is done. Throws Error if it never will be, because the wire broke.
  virtual bool done() = 0;

  /// Waits until it is done, but no longer than `slice`; returns whether it is. Throws like done.
  virtual bool wait_for(std::chrono::milliseconds slice) = 0;

  /// Gives it up while others may still refer to it. REQUIRES: the wire was closed, so that whoever
  /// waits for it gets an error. A wire that moves nothing once it is closed need not do anything.
  virtual void give_up() {}
};

/// Called again and again by whatever waits; throws to end the waiting.
using Watch = std::function<void()>;

/// The collectives that the wire's own library has. All ranks call the same one, with arguments
/// that fit; each returns when it is done and calls `watch` at least every 50 ms until then.
/// `average` divides by the number of ranks. Sums of float16 and bfloat16 are made in float32.
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

/// Any thread may call it.
class Wire {
 public:
  virtual ~Wire() = default;

  /// "gloo" or "mpi".
  virtual std::string_view name() const = 0;

  /// REQUIRES: the peer is another rank of the group, the other end names the same length, and that
  /// is not 0. Throws Error if the connection to the peer is broken.
  virtual std::shared_ptr<Transfer> send(int to, Slot slot, std::span<const std::byte> data) = 0;
  virtual std::shared_ptr<Transfer> receive(int from, Slot slot, std::span<std::byte> data) = 0;

  /// Nothing moves any more: transfers under way, and any later ones, throw.
  virtual void close() = 0;

  /// Null where the library has no collectives of its own, or they cannot be interrupted.
  virtual NativeCollectives* native() { return nullptr; }
};

}  // namespace lockstep::comm
