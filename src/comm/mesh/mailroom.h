// Mailroom: matches the user's messages on a network transport. A sender announces each message
// (tag, length, slot of the wire) on the control mesh; the receiver's side finds the receive that
// wants it, in order for each (sender, tag), and only if the lengths are equal asks the wire for
// the bytes. So a wrong length is an error here, and never reaches a library that would abort the
// process for it.
//
// Thread safety: any thread.
#pragma once

#include "base/thread_annotations.h"
#include "comm/mesh/control_message.h"
#include "comm/mesh/wire.h"
#include "comm/transport.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <vector>

namespace lockstep::comm {

/// A send or receive on a network transport.
struct MeshRequest : Request {
  int peer = 0;
  std::int32_t tag = 0;
  bool incoming = false;
  std::size_t bytes = 0;
  std::span<std::byte> target;  ///< of a receive
  /// When its peer was first found gone; 0 if it was not. Several threads may wait for one request.
  std::atomic<double> peer_gone_since{0};

  // Until it is matched, guarded by the mailroom's lock; constant after that.
  bool matched = false;
  std::shared_ptr<Transfer> transfer;  ///< null for an empty message
  std::uint64_t came = 0;  ///< bytes that were announced: an error if not those expected
  std::string broken;      ///< why the wire would not have it; empty if it did
};

class Mailroom {
 public:
  Mailroom(Wire& wire, int size);

  /// Picks the slot for the next message to `to`.
  Slot next_slot(int to);

  /// Whether a receive was matched at once; else it is when its announcement comes.
  void want(const std::shared_ptr<MeshRequest>& request);

  /// To be called for every announcement.
  void take(int from, const Announcement& announcement);

  /// Waits until the receive is matched, but no longer than `slice`.
  bool wait_until_matched(MeshRequest& request, std::chrono::milliseconds slice);
  bool matched(MeshRequest& request);

  /// Whether receives wait for an announcement.
  bool expects_announcements();

  /// Keeps a request until it is done, even if nobody waits for it.
  void keep(std::shared_ptr<MeshRequest> request);
  void drop_all();

 private:
  static constexpr std::size_t kTidyAt = 64;

  struct Sender {
    std::deque<Announcement> announced;              ///< that nobody has asked for
    std::list<std::shared_ptr<MeshRequest>> wanted;  ///< that have not been announced
  };

  void match(MeshRequest& request, const Announcement& announcement) REQUIRES_LOCK(mutex_);

  Wire& wire_;
  Mutex mutex_;
  Condition changed_;
  std::vector<Sender> senders_ GUARDED_BY(mutex_);
  std::vector<std::uint32_t> sent_ GUARDED_BY(mutex_);  ///< messages to each rank
  std::list<std::shared_ptr<MeshRequest>> kept_ GUARDED_BY(mutex_);
  std::size_t tidy_at_ GUARDED_BY(mutex_) = kTidyAt;  ///< so many kept ones: drop those done
};

}  // namespace lockstep::comm
