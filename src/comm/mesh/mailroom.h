// Mailroom: matches the user's messages on a network transport. A sender announces each message
// (tag, length, slot of the wire) on the control mesh; the receiver's side finds the receive that
// wants it, in order for each (sender, tag), and only if the lengths are equal asks the wire for
// the bytes. So a wrong length is an error here, and never reaches a library that would abort the
// process for it.
//
// Flow control: kMessageSlots messages to one rank may be announced and not received. Later ones
// queue at their sender, in order, and their waits end once the receiver has started earlier
// receives and said so. Receivers say so for kTellTaken messages at a time, and at once when the
// sender may have no slot left. Starting a send never
// waits, so two ranks that both send first do not block each other.
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

namespace lockstep::comm {

/// A send or receive on a network transport.
struct MeshRequest : Request {
  int peer = 0;
  std::int32_t tag = 0;
  bool incoming = false;
  std::size_t bytes = 0;
  std::span<std::byte> target;        ///< of a receive
  std::span<const std::byte> source;  ///< of a send
  bool queued = false;                ///< a send that had to wait for a slot
  /// When its peer was first found gone; 0 if it was not. Several threads may wait for one request.
  std::atomic<double> peer_gone_since{0};

  // Until it is matched (a send: has a slot), guarded by the mailroom's lock; constant after that.
  bool matched = false;
  std::shared_ptr<Transfer> transfer;  ///< null for an empty message
  std::uint64_t came = 0;  ///< bytes that were announced: an error if not those expected
  std::string broken;      ///< why the wire would not have it; empty if it did
};

class Mailroom {
 public:
  explicit Mailroom(int size);

  /// REQUIRES: called once, before the first message.
  void use(Wire& wire);

  /// The slot for a send, which the caller is to announce and start; or nothing: all are taken, and
  /// the send queues until the receiver has taken earlier ones.
  std::optional<Slot> post(const std::shared_ptr<MeshRequest>& request);

  /// A receive: matched at once if its announcement is here, else when it comes. Returns what the
  /// sender is to be told, if anything.
  std::optional<Taken> want(const std::shared_ptr<MeshRequest>& request);

  /// What came from a peer: an announcement, or that it has taken messages. Returns what to answer.
  /// Throws Error if it makes no sense.
  std::vector<ControlMessage> take(int from, const ControlMessage& message);

  /// Waits until the message is matched, but no longer than `slice`.
  bool wait_until_matched(MeshRequest& request, std::chrono::milliseconds slice);
  bool matched(MeshRequest& request);

  /// Which bound keeps a message, or those sent behind it, from moving, and what to do; empty if
  /// none.
  std::string held_up(MeshRequest& request);

  /// Whether receives wait for an announcement, or sends for a slot.
  bool expects_messages();

  /// Keeps a request until it is done, even if nobody waits for it.
  void keep(std::shared_ptr<MeshRequest> request);
  /// Gives up all messages, those of others' too that are still to be kept. REQUIRES: the wire was
  /// closed.
  void drop_all();

 private:
  static constexpr std::size_t kTidyAt = 64;
  /// A sixty-fourth of the slots: so many that telling costs nothing.
  static constexpr std::size_t kTellTaken = kMessageSlots / 64;

  /// Messages from one rank to this one.
  struct Incoming {
    std::deque<Announcement> announced;              ///< that nobody has asked for
    std::list<std::shared_ptr<MeshRequest>> wanted;  ///< that have not been announced
    MessageSlots slots;                              ///< of those announced
    std::vector<Slot> untold;                        ///< slots that are free, and not yet told
  };
  /// Messages from this rank to one.
  struct Outgoing {
    MessageSlots slots;
    std::deque<std::shared_ptr<MeshRequest>> queue;  ///< that wait for a slot
  };

  std::vector<ControlMessage> take_announcement(int from, const Announcement& announcement);
  std::vector<ControlMessage> send_queued(int to, const Taken& taken);
  /// Returns whether the slot is empty now: the message has its receive.
  bool match(MeshRequest& request, const Announcement& announcement) REQUIRES_LOCK(mutex_);
  /// Notes that the slot's message has its receive.
  void free_slot(Incoming& incoming, Slot slot) REQUIRES_LOCK(mutex_);
  /// The slots to tell the sender of, if it is time.
  std::optional<Taken> to_tell(Incoming& incoming) REQUIRES_LOCK(mutex_);
  Announcement dispatch(MeshRequest& request, Slot slot) REQUIRES_LOCK(mutex_);

  Mutex mutex_;
  Condition changed_;
  Wire* wire_ GUARDED_BY(mutex_) = nullptr;
  std::vector<Incoming> incoming_ GUARDED_BY(mutex_);
  std::vector<Outgoing> outgoing_ GUARDED_BY(mutex_);
  std::list<std::shared_ptr<MeshRequest>> kept_ GUARDED_BY(mutex_);
  std::size_t tidy_at_ GUARDED_BY(mutex_) = kTidyAt;  ///< so many kept ones: drop those done
  bool dropped_ GUARDED_BY(mutex_) = false;
};

}  // namespace lockstep::comm
