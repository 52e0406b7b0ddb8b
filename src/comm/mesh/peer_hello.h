// PeerHello: the first bytes on a new connection between two ranks: the rank that opened it, and
// the channel. Their length is fixed. Bytes from the network are not trusted: the hello may arrive
// in pieces, together with bytes that follow it, or be invalid.
#pragma once

#include "base/net/guarded_listener.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lockstep::internal::comm {

struct PeerHello {
  static constexpr std::size_t kBytes = 24;

  int rank = 0;
  int channel = 0;

  std::string encode() const;
  /// Throws Error if the bytes are not a hello.
  static PeerHello decode(const std::string& bytes);
};

enum class HelloProgress { whole, incomplete, connection_ended };

/// Takes the hello off the front of `connection.received`. Missing bytes are read from the socket,
/// without waiting and without reading past the hello, because the bytes behind it may be for
/// another reader. Sets `hello` if it is complete. Throws Error if it is not a hello.
HelloProgress receive_hello(AuthenticatedConnection& connection, PeerHello& hello);

}  // namespace lockstep::internal::comm
