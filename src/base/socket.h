// TCP sockets over IPv4, as far as ranks and their rendezvous need them.
#pragma once

#include "base/deadline.h"
#include "base/unique_fd.h"

#include <cstdint>
#include <string>

namespace lockstep {

struct Address {
  std::string host;  ///< an IPv4 address in dots, or a name that resolves to one
  std::uint16_t port = 0;

  std::string text() const;
  /// Throws UsageError if the host is a name that nobody knows.
  bool is_loopback() const;
  /// "127.0.0.1:29501"; throws UsageError that names `what`.
  static Address parse(const std::string& text, const std::string& what);
};

/// Listens on the address, without blocking; port 0 lets the kernel pick. Throws Error if the port
/// is in use or the address is not this host's, UsageError if the host's name does not resolve,
/// DescriptorShortageError.
UniqueFd listen_on(const Address& address);
std::uint16_t port_of(const UniqueFd& socket);

/// Connects, trying again until the deadline while nobody listens yet. The socket blocks and does
/// not hold small messages back (TCP_NODELAY). Throws TimeoutError, and at once UsageError if the
/// host's name does not resolve and DescriptorShortageError.
UniqueFd connect_to(const Address& address, const Deadline& deadline);

/// One try of connect_to: without a socket, `why` says why there is none. Throws what the limit's
/// tick throws.
UniqueFd try_to_connect(const Address& address, const WaitLimit& limit, std::string& why);

/// How long to wait before the next try to connect.
constexpr std::chrono::milliseconds kRetryAfter{50};

/// Sends small messages at once (TCP_NODELAY).
void send_at_once(const UniqueFd& socket);
void set_blocking(const UniqueFd& socket, bool blocking);

/// A host that vanishes without a word (power, network) is noticed within 4 to 5 seconds: reading
/// from the connected socket, or writing to it, then fails. An idle connection is probed after 1 s,
/// each second, and given up after 3 probes; data may stay unacknowledged for 4 s.
void detect_dead_hosts(const UniqueFd& socket);

/// This host's IPv4 address as a peer at `address` would see it: that of the interface that leads
/// there. Sends nothing. Throws Error if no interface does.
std::string address_towards(const Address& address);

/// The IPv4 address of an interface ("eth0"), or `text` itself if it is an address in dots. Throws
/// UsageError that names what there is.
std::string address_of_interface(const std::string& text);

/// The IPv4 address of the first interface that leads beyond this host; loopback if none does.
std::string address_of_this_host();

}  // namespace lockstep
