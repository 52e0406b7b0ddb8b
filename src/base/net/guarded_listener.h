// GuardedListener: a listening socket that returns only connections whose other end has
// proved that it knows the run's token (base/net/handshake.h). Unauthenticated, invalid,
// half-open and slow connections are dropped without affecting others: a handshake has a time
// limit, the number of pending handshakes is limited, and the newest replaces the oldest.
//
// It has no thread: its owner waits until fd() is readable, at most kTick at a time, and calls
// service(). Thread safety: one thread at a time.
#pragma once

#include "base/deadline.h"
#include "base/net/handshake.h"
#include "base/net/socket.h"
#include "base/unique_fd.h"

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace lockstep::internal {

/// A connection whose other end knows the token. The socket is nonblocking.
struct AuthenticatedConnection {
  UniqueFd socket;
  std::string received;  ///< bytes that arrived directly after the handshake
};

class GuardedListener {
 public:
  static constexpr std::chrono::milliseconds kTick = WaitLimit::kTick;
  static constexpr std::chrono::milliseconds kHandshakeTimeout{
      5000};                                       ///< time limit of one handshake
  static constexpr std::size_t kMaxPending = 128;  ///< limit of pending handshakes

  /// Listens at once; the process may fork between this and the first service(). Throws UsageError
  /// for an address beyond loopback without a token, and Error if the port is in use or no
  /// descriptor is available.
  GuardedListener(const Address& address, std::string token, std::string purpose);

  /// The listening address, with the port that the kernel picked.
  Address address() const;

  /// Readable when service() has work to do.
  int fd() const { return events_.get(); }

  /// Handles all events without waiting; returns the connections that are now authenticated.
  std::vector<AuthenticatedConnection> service();

  /// The errno of the shortage for which a connection was refused, because no descriptor was
  /// available and no pending handshake could be dropped; 0 if there was none. The other end was
  /// told, if possible.
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
  /// Returns whether the handshake is still pending.
  bool advance(Pending& pending, std::vector<AuthenticatedConnection>& authenticated);

  const Address asked_;
  const std::string token_;
  const std::string purpose_;
  UniqueFd listener_;
  UniqueFd events_;  ///< an epoll descriptor over the listener and all pending connections
  UniqueFd spare_;   ///< closed in a shortage, to accept a connection and refuse it with a reason
  int shortage_ = 0;
  std::list<Pending> pending_;
};

/// Connects to a GuardedListener and proves the token. Retries until the deadline while no process
/// listens there, or one that closes the connection or uses another protocol. The socket is
/// nonblocking. Throws TimeoutError, which describes the last failure. Throws Error at once if the
/// other end does not know the token, refuses this end's token, or either end is out of
/// descriptors. Also throws the exceptions of the limit's tick.
AuthenticatedConnection connect_authenticated(const Address& address, const std::string& token,
                                              const std::string& purpose, const WaitLimit& limit);

}  // namespace lockstep::internal
