// MessageMatcher: matches sends and receives of the user's messages on a network transport. A
// sender announces each message (tag, length, slot of the wire) on the control mesh. The receiver
// finds the matching receive, in order for each (sender, tag), and asks the wire for the bytes only
// if the lengths are equal. A wrong length is therefore an error here, and never reaches a library
// that would abort the process.
//
// Flow control: at most kMessageSlots messages to one rank may be announced and not yet received.
// Later messages queue at their sender, in order, until the receiver has acknowledged earlier ones.
// Receivers acknowledge kTellTaken messages at a time, and at once when the sender may be out of
// slots. Starting a send never waits, so two ranks that both send first do not block each other.
//
// Thread safety: any thread.
#pragma once

#include "base/thread_annotations.h"
#include "comm/mesh/control_message.h"
#include "comm/mesh/message_slots.h"
#include "comm/mesh/wire.h"
#include "comm/transport.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

/// A send or receive on a network transport.
struct MeshRequest : Request {
  int peer = 0;
  std::int32_t tag = 0;
  bool incoming = false;
  std::size_t bytes = 0;
  std::span<std::byte> target;        ///< receives only
  std::span<const std::byte> source;  ///< sends only
  bool queued = false;                ///< sends only: it had to wait for a slot
  /// Time at which its peer was first found gone; 0 if it was not. Several threads may wait for one
  /// request.
  std::atomic<double> peer_gone_since{0};

  // Guarded by the matcher's lock until the request is matched (a send: has a slot); constant after
  // that.
  bool matched = false;
  std::shared_ptr<Transfer> transfer;  ///< null for an empty message
  std::uint64_t came = 0;  ///< announced length; an error if it differs from the expected one
  std::string broken;      ///< the wire's error when the transfer was started; empty if none
};

class MessageMatcher {
 public:
  explicit MessageMatcher(int size);

  /// REQUIRES: called once, before the first message.
  void use(Wire& wire);

  /// Takes a slot for a send, which the caller announces and starts. Empty if all slots are taken:
  /// the send then queues until the receiver has acknowledged earlier messages.
  std::optional<Slot> post(const std::shared_ptr<MeshRequest>& request);

  /// Adds a receive. It is matched at once if its announcement has arrived, else later. Returns the
  /// acknowledgement to send, if any.
  std::optional<Taken> want(const std::shared_ptr<MeshRequest>& request);

  /// Handles an announcement or an acknowledgement from a peer. Returns the answer. Throws Error if
  /// the message is invalid.
  std::vector<ControlMessage> take(int from, const ControlMessage& message);

  /// Waits until the message is matched, at most `slice`.
  bool wait_until_matched(MeshRequest& request, std::chrono::milliseconds slice);
  bool matched(MeshRequest& request);

  /// The limit that blocks a message, or the messages behind it, and the remedy; empty if none
  /// does.
  std::string held_up(MeshRequest& request);

  /// Whether receives wait for an announcement, or sends for a slot.
  bool expects_messages();

  /// Keeps a request alive until it is done, even if no thread waits for it.
  void keep(std::shared_ptr<MeshRequest> request);
  /// Abandons all messages, including the requests that keep() holds. REQUIRES: the wire is closed.
  void drop_all();

 private:
  static constexpr std::size_t kTidyAt = 64;
  /// A sixty-fourth of the slots, so that the cost of acknowledgements is negligible.
  static constexpr std::size_t kTellTaken = kMessageSlots / 64;

  /// Messages from one rank to this one.
  struct Incoming {
    std::deque<Announcement> announced;              ///< announced, without a matching receive
    std::list<std::shared_ptr<MeshRequest>> wanted;  ///< receives without a matching announcement
    MessageSlots slots;                              ///< slots of the announced messages
    std::vector<Slot> untold;                        ///< free slots, not yet acknowledged
  };
  /// Messages from this rank to another.
  struct Outgoing {
    MessageSlots slots;
    std::deque<std::shared_ptr<MeshRequest>> queue;  ///< sends that wait for a slot
  };

  std::vector<ControlMessage> take_announcement(int from, const Announcement& announcement);
  std::vector<ControlMessage> send_queued(int to, const Taken& taken);
  /// Returns whether the slot is free now, because the message has its receive.
  bool match(MeshRequest& request, const Announcement& announcement) REQUIRES_LOCK(mutex_);
  /// Records that the slot's message has its receive.
  void free_slot(Incoming& incoming, Slot slot) REQUIRES_LOCK(mutex_);
  /// The slots to acknowledge now, if any.
  std::optional<Taken> to_tell(Incoming& incoming) REQUIRES_LOCK(mutex_);
  Announcement dispatch(MeshRequest& request, Slot slot) REQUIRES_LOCK(mutex_);

  Mutex mutex_;
  Condition changed_;
  Wire* wire_ GUARDED_BY(mutex_) = nullptr;
  std::vector<Incoming> incoming_ GUARDED_BY(mutex_);
  std::vector<Outgoing> outgoing_ GUARDED_BY(mutex_);
  std::list<std::shared_ptr<MeshRequest>> kept_ GUARDED_BY(mutex_);
  /// Number of kept requests at which finished ones are dropped.
  std::size_t tidy_at_ GUARDED_BY(mutex_) = kTidyAt;
  bool dropped_ GUARDED_BY(mutex_) = false;
};

}  // namespace lockstep::internal::comm
