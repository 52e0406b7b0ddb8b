// GuardedListener: a listening socket that hands out only connections whose other end has proved
// the run's token (base/handshake.h). Strangers, garbage, half-open and slow connections are
// dropped without disturbing anyone: a handshake has a few seconds, only so many are under way at
// once, and the oldest makes room for the newest.
//
// It has no thread of its own: its owner waits for fd() to be readable, at most kTick at a time,
// and calls service(). One thread at a time.
#pragma once

#include "base/deadline.h"
#include "base/handshake.h"
#include "base/socket.h"
#include "base/unique_fd.h"

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace lockstep {

/// A connection whose other end knows the token. The socket does not block.
struct ProvedConnection {
  UniqueFd socket;
  std::string received;  ///< bytes that came right behind the handshake
};

class GuardedListener {
 public:
  static constexpr std::chrono::milliseconds kTick = WaitLimit::kTick;
  static constexpr std::chrono::milliseconds kPatience{5000};  ///< for one handshake
  static constexpr std::size_t kMaxPending = 128;              ///< handshakes under way at once

  /// Listens at once; between this and the first service() the process may fork. Without a token
  /// only loopback is accepted: throws UsageError otherwise, and Error if the port is in use or
  /// there are no descriptors.
  GuardedListener(const Address& address, std::string token, std::string purpose);

  /// Where it listens, with the port that the kernel picked.
  Address address() const;

  /// Readable when there is something to do.
  int fd() const { return events_.get(); }

  /// Does what can be done without waiting; returns the connections that are now proved.
  std::vector<ProvedConnection> service();

  /// The errno for which a connection had to be refused, because there was no descriptor for it and
  /// no handshake under way whose place it could take; 0 as long as there was none. The other end
  /// was told, if possible.
  int shortage() const { return shortage_; }

 private:
  struct Pending {
    UniqueFd socket;
    Handshake handshake;
    std::string received;
    Deadline deadline;
  };

  void accept_new();
  bool make_room(int error);
  void add(UniqueFd socket);
  /// Whether the handshake is still worth its place.
  bool advance(Pending& pending, std::vector<ProvedConnection>& proved);

  const Address asked_;
  const std::string token_;
  const std::string purpose_;
  UniqueFd listener_;
  UniqueFd events_;  ///< an epoll descriptor over the listener and all that is pending
  UniqueFd spare_;   ///< given up when there is no other, to tell a peer that it is refused
  int shortage_ = 0;
  std::list<Pending> pending_;
};

/// Connects to a GuardedListener and proves the token to it, trying again until the deadline while
/// nobody listens there, or someone who hangs up or speaks another protocol. The socket returned
/// does not block. Throws TimeoutError that says what was met, and at once Error if the other end
/// does not know the token, says that this one does not, or either end has no descriptor left.
/// Also throws what the limit's tick throws.
ProvedConnection connect_proved(const Address& address, const std::string& token,
                                const std::string& purpose, const WaitLimit& limit);

}  // namespace lockstep
