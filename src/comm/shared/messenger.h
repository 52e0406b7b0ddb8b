// Messenger: messages between ranks through channels in shared memory.
//
// A message is a header (tag, length) and its bytes, written into the channel of its sender and
// receiver as a stream: long messages flow through while the receiver drains them. Nobody works in
// the background; whoever waits moves all of its rank's pending messages forward, so that two ranks
// that both send first do not block each other. A message whose tag nobody asked for yet is set
// aside in memory, up to kMostSetAside bytes a sender: then the channel fills up, and the sender
// waits.
//
// Thread safety: all methods may be called from several threads.
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

namespace lockstep::comm {

class Messenger {
 public:
  /// Bytes of messages from one rank, with tags that nobody asked for, that a rank keeps while it
  /// waits for another message of that rank. The last of them may go beyond.
  static constexpr std::size_t kMostSetAside = std::size_t{64} << 20;

  Messenger(const SharedSpace& space, int rank);
  ~Messenger();

  std::shared_ptr<Request> start_send(int to, std::int32_t tag, std::span<const std::byte> data);
  std::shared_ptr<Request> start_recv(int from, std::int32_t tag, std::span<std::byte> data);

  /// Both throw PeerLostError, and MismatchError where the message that came is not of the length
  /// expected; wait throws TimeoutError at the deadline.
  bool done(Request& request);
  void wait(Request& request, const Deadline& deadline);

  /// Moves what can be moved; true while something is still to be sent.
  bool move();

  /// Throws what stop() was given, once it was called.
  void throw_if_stopped();

  /// No message moves any more, and every call throws `why`. Pending ones are dropped: their memory
  /// may be gone once their owner has seen the error.
  void stop(std::exception_ptr why);

  /// Wakes peers that wait for a message of this rank, so that they notice its leaving at once.
  void ring_all() const;

  std::uint64_t bytes_sent() const { return bytes_sent_.load(std::memory_order_relaxed); }

  /// See SharedTransport.
  void while_waiting(std::function<void(bool)> tick) { tick_ = std::move(tick); }

 private:
  struct Message;
  struct Inbox;

  /// A peer and the kind of traffic with it: an index of outgoing_ and inboxes_.
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
  /// A collective was left by an exception: no message moves any more, so that none touches the
  /// collective's memory. stop() follows, and says why.
  void give_up();
  std::string held_up(const Message& message) REQUIRES_LOCK(mutex_);
  void require_length(const Message& wanted, std::uint64_t came) const;
  AwaitedMessage awaited_of(const Message& message) const;
  bool finished(Message& message);
  void look_around(const Message& message, const Deadline& deadline);

  const SharedSpace& space_;
  const Blackboard board_;
  const int rank_;
  const int spins_;
  std::function<void(bool)> tick_;
  std::atomic<std::uint64_t> bytes_sent_{0};

  Mutex mutex_;
  std::vector<std::deque<std::shared_ptr<Message>>> outgoing_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Inbox>> inboxes_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

}  // namespace lockstep::comm
