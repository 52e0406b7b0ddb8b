// Transport: moves bytes between the ranks of one group. A narrow abstract class with one folder
// per implementation. Collectives are implemented once on top of it, in collectives/.
//
// Thread safety: start_send, start_recv and wait may be called by several threads at once; agree,
// allocate and the direct collectives by one thread at a time, which GroupCore ensures.
#pragma once

#include <lockstep/memory.h>
#include <lockstep/types.h>

#include "base/deadline.h"
#include "comm/fingerprint.h"
#include "comm/membership.h"
#include "comm/mesh/wire.h"
#include "comm/purpose.h"
#include "comm/reduce.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string_view>

namespace lockstep::internal::comm {

/// Tags >= 0 belong to the user. All collectives use this one: they run one at a time, and messages
/// between two ranks stay in order.
constexpr std::int32_t kCollectiveTag = -1;

/// A running send or receive. It owns the bytes it was started with until it is done.
class Request {
 public:
  virtual ~Request() = default;
};

/// Collectives in which ranks access each other's memory.
class DirectCollectives {
 public:
  virtual ~DirectCollectives() = default;

  // Each compares fingerprints like Transport::agree before it touches any data. Group documents
  // the operations.
  virtual void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                          const Deadline& deadline) = 0;
  virtual void reduce_scatter(const Fingerprint& call, ConstArrayView all, ArrayView mine,
                              ReduceOp op, const Deadline& deadline) = 0;
  virtual void all_gather(const Fingerprint& call, ConstArrayView mine, ArrayView all,
                          const Deadline& deadline) = 0;
  virtual void broadcast(const Fingerprint& call, ArrayView data, int root,
                         const Deadline& deadline) = 0;
};

/// Collectives over several hosts that send as little as possible between hosts.
class HierarchicalCollectives {
 public:
  virtual ~HierarchicalCollectives() = default;
  virtual void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                          const Deadline& deadline) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual const Membership& membership() const = 0;
  virtual std::string_view name() const = 0;
  int rank() const { return membership().rank; }
  int size() const { return membership().size(); }

  /// Messages are matched by (sender, tag), in the order in which they were started; the receiver
  /// must expect exactly as many bytes as were sent. REQUIRES: the peer is another rank of the
  /// group.
  virtual std::shared_ptr<Request> start_send(int to, std::int32_t tag,
                                              std::span<const std::byte> data) = 0;
  virtual std::shared_ptr<Request> start_recv(int from, std::int32_t tag,
                                              std::span<std::byte> data) = 0;

  /// Returns when the request is done. Throws PeerLostError, TimeoutError or MismatchError.
  virtual void wait(Request& request, const Deadline& deadline) = 0;
  /// Whether wait would return at once. Throws if wait would throw at once.
  virtual bool done(Request& request) = 0;

  /// Waits for the fingerprints of all ranks. If they differ, all ranks throw the same
  /// MismatchError.
  virtual void agree(const Fingerprint& call, const Deadline& deadline) = 0;

  /// Memory that all ranks can access, if the transport supports it. A collective.
  virtual Memory allocate(std::size_t bytes, const Fingerprint& call, const Deadline& deadline) = 0;

  /// Ends this rank's participation because of `why`: its peers are told at once, with the rank
  /// that caused `why`, and every wait of this rank throws `why`. Thread safety: any thread.
  virtual void abandon(std::exception_ptr why) = 0;

  /// A transport of the same kind for some of this one's ranks. A collective of those ranks, with
  /// the same name and members. While it waits for the others, it calls the limit's tick.
  virtual std::unique_ptr<Transport> split(const Membership& part, const WaitLimit& limit) = 0;

  /// For a rank that waits in a collective for an event outside this transport. Throws the error
  /// this rank was abandoned for, and PeerLostError if another rank is gone. Answers peers that ask
  /// whether this rank is waiting.
  virtual void require_all_present() {}

  // Null if the transport does not have it.
  virtual DirectCollectives* direct() { return nullptr; }
  virtual NativeCollectives* native() { return nullptr; }
  virtual HierarchicalCollectives* hierarchical() { return nullptr; }

  /// Call it repeatedly while `native` waits: throws once a peer is lost or the deadline has
  /// passed.
  virtual void watch(const Deadline&) {}

  /// into[i] = into[i] op from[i], for received data. Overridden only by a transport that moves no
  /// data.
  virtual void combine(ArrayView into, const void* from, ReduceOp op) {
    reduce_into(into, from, op);
  }

  /// Totals since the transport was created; see Counters.
  virtual BytesByPurpose bytes_moved() const = 0;
  virtual double seconds_waited() const = 0;

  void send(int to, std::int32_t tag, ConstArrayView data, const Deadline& deadline) {
    wait(*start_send(to, tag, bytes_of(data)), deadline);
  }
  void recv(int from, std::int32_t tag, ArrayView data, const Deadline& deadline) {
    wait(*start_recv(from, tag, bytes_of(data)), deadline);
  }

  static std::span<std::byte> bytes_of(ArrayView view) {
    return {static_cast<std::byte*>(view.data), view.bytes()};
  }
  static std::span<const std::byte> bytes_of(ConstArrayView view) {
    return {static_cast<const std::byte*>(view.data), view.bytes()};
  }
};

}  // namespace lockstep::internal::comm
