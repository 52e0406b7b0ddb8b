// TCP sockets over IPv4, as needed by ranks and their rendezvous.
#pragma once

#include "base/deadline.h"
#include "base/unique_fd.h"

#include <cstdint>
#include <string>

namespace lockstep::internal {

struct Address {
  std::string host;  ///< an IPv4 address in dots, or a name that resolves to one
  std::uint16_t port = 0;

  std::string text() const;
  /// Throws UsageError if the host is a name that does not resolve.
  bool is_loopback() const;
  /// Parses "127.0.0.1:29501". Throws UsageError, which names `what`.
  static Address parse(const std::string& text, const std::string& what);
};

/// Listens on the address, without blocking; port 0 lets the kernel pick. Throws Error if the port
/// is in use or the address is not this host's, UsageError if the host's name does not resolve,
/// DescriptorShortageError.
UniqueFd listen_on(const Address& address);
std::uint16_t port_of(const UniqueFd& socket);

/// A connection to the listener, which does not block; invalid, with errno, if there is none.
UniqueFd accept_on(const UniqueFd& listener);

/// Connects, retrying until the deadline while no process listens. The socket blocks and sends
/// small messages at once (TCP_NODELAY). Throws TimeoutError; throws at once UsageError if the
/// host's name does not resolve, and DescriptorShortageError.
UniqueFd connect_to(const Address& address, const Deadline& deadline);

/// One attempt of connect_to: on failure the socket is invalid and `why` has the reason. Throws the
/// exceptions of the limit's tick.
UniqueFd try_to_connect(const Address& address, const WaitLimit& limit, std::string& why);

/// The pause between two attempts to connect.
constexpr std::chrono::milliseconds kRetryAfter{50};

/// Sends small messages at once (TCP_NODELAY).
void send_at_once(const UniqueFd& socket);
void set_blocking(const UniqueFd& socket, bool blocking);

/// Detects within 4 to 5 seconds that the other host is gone (power, network): reading from or
/// writing to the connected socket then fails. An idle connection is probed each second and given
/// up after 3 probes; data may stay unacknowledged for 4 s.
void detect_dead_hosts(const UniqueFd& socket);

/// This host's IPv4 address as seen by a peer at `address`: that of the interface with the route to
/// it. Sends nothing. Throws Error if there is no route.
std::string address_towards(const Address& address);

/// The IPv4 address of an interface ("eth0"), or `text` itself if it is an address in dots. Throws
/// UsageError, which lists the interfaces.
std::string address_of_interface(const std::string& text);

/// The IPv4 address of the first interface other than loopback; loopback if there is none.
std::string address_of_this_host();

}  // namespace lockstep::internal
