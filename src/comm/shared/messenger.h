// Messenger: messages between ranks through channels in shared memory.
//
// A message is a header (tag, length) and its bytes, written as a stream into the channel between
// its sender and receiver: a long message flows through while the receiver drains it. There is no
// background thread: a waiting thread advances all pending messages of its rank, so that two ranks
// that both send first do not block each other. A message whose tag has no receive yet is buffered
// in memory, up to kMostSetAside bytes per sender: then the channel fills up, and the sender waits.
//
// Thread safety: any thread.
#pragma once

#include "base/deadline.h"
#include "base/thread_annotations.h"
#include "comm/shared/shared_space.h"
#include "comm/transport.h"

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

class Messenger {
 public:
  /// Limit on the bytes of messages from one rank, without a matching receive, that are buffered
  /// while this rank waits for another message of that rank. The last of them may exceed it.
  static constexpr std::size_t kMostSetAside = std::size_t{64} << 20;

  Messenger(const SharedSpace& space, int rank);
  ~Messenger();

  std::shared_ptr<Request> start_send(int to, std::int32_t tag, std::span<const std::byte> data);
  std::shared_ptr<Request> start_recv(int from, std::int32_t tag, std::span<std::byte> data);

  /// Both throw PeerLostError, and MismatchError if a message has an unexpected length; wait throws
  /// TimeoutError at the deadline.
  bool done(Request& request);
  void wait(Request& request, const Deadline& deadline);

  /// Advances pending messages; true while some are still to be sent.
  bool move();

  /// Throws the error that stop() was given, once it was called.
  void throw_if_stopped();

  /// Stops all messages: every later call throws `why`. Pending messages are dropped, because their
  /// memory may be freed once their owner has seen the error.
  void stop(std::exception_ptr why);

  /// Wakes peers that wait for a message of this rank, so that they notice at once that it leaves.
  void ring_all() const;

  BytesByPurpose bytes_sent() const { return sent_.bytes(); }

  /// See SharedTransport.
  void while_waiting(std::function<void(bool)> tick) { tick_ = std::move(tick); }

 private:
  struct Message;
  struct Inbox;

  /// A peer and the kind of traffic with it: an index into outgoing_ and inboxes_.
  static std::size_t line_of(int peer, Traffic traffic) {
    return kTraffics * static_cast<std::size_t>(peer) + static_cast<std::size_t>(traffic);
  }
  static std::size_t line_of(const Message& message);
  static int peer_on(std::size_t line) { return static_cast<int>(line / kTraffics); }
  Channel& channel_to(std::size_t line) const;
  Channel& channel_from(std::size_t line) const;

  bool progress() REQUIRES_LOCK(mutex_);
  bool push(std::size_t line) REQUIRES_LOCK(mutex_);
  bool pull(std::size_t line) REQUIRES_LOCK(mutex_);
  bool can_open(std::size_t line) REQUIRES_LOCK(mutex_);
  void open_message(std::size_t line) REQUIRES_LOCK(mutex_);
  void close_message(std::size_t line) REQUIRES_LOCK(mutex_);
  void fill_from_set_aside(Inbox& inbox, const std::shared_ptr<Message>& wanted)
      REQUIRES_LOCK(mutex_);
  void drop_all() REQUIRES_LOCK(mutex_);
  /// An exception ended a collective: messages stop, so that none accesses the collective's memory.
  /// stop() follows with the reason.
  void give_up();
  std::string held_up(const Message& message) REQUIRES_LOCK(mutex_);
  void require_length(const Message& wanted, std::uint64_t came) const;
  AwaitedMessage awaited_of(const Message& message) const;
  bool finished(Message& message);
  void look_around(const Message& message, const Deadline& deadline);

  const SharedSpace& space_;
  const GroupMemory group_memory_;
  const int rank_;
  const int spins_;
  std::function<void(bool)> tick_;
  ByteCounter sent_;

  Mutex mutex_;
  std::vector<std::deque<std::shared_ptr<Message>>> outgoing_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Inbox>> inboxes_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

}  // namespace lockstep::internal::comm
