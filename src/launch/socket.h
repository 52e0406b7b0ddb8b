// TCP sockets, as far as the rendezvous needs them.
#pragma once

#include "base/deadline.h"
#include "base/unique_fd.h"

#include <cstdint>
#include <string>

namespace lockstep::launch {

struct Address {
  std::string host;  ///< an IPv4 address in dots, or "localhost"
  std::uint16_t port = 0;

  std::string text() const;
  bool is_loopback() const;
  /// "127.0.0.1:29501"; throws UsageError that names `what`.
  static Address parse(const std::string& text, const std::string& what);
};

/// Listens on the address; port 0 lets the kernel pick. Throws Error if the port is in use.
UniqueFd listen_on(const Address& address);
std::uint16_t port_of(const UniqueFd& socket);

/// Connects, trying again until the deadline while nobody listens yet. Throws TimeoutError.
UniqueFd connect_to(const Address& address, const Deadline& deadline);

}  // namespace lockstep::launch
