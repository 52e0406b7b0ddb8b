// PeerHello: the first bytes on a new connection between two ranks: which rank opened it, and which
// channel it is. They have a fixed length. What comes from the network is not trusted: the hello
// may come in pieces, together with bytes that follow it, or be none.
#pragma once

#include "base/guarded_listener.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lockstep::comm {

struct PeerHello {
  static constexpr std::size_t kBytes = 24;

  int rank = 0;
  int channel = 0;

  std::string encode() const;
  /// Throws Error if the bytes are not a hello.
  static PeerHello decode(const std::string& bytes);
};

enum class HelloProgress { whole, incomplete, connection_ended };

/// Moves the hello off the front of `connection.received`. What is missing of it is read from the
/// socket, without waiting, and not a byte more: the bytes behind it may be for another reader.
/// Sets `hello` if it is whole. Throws Error if it is not a hello.
HelloProgress receive_hello(ProvedConnection& connection, PeerHello& hello);

}  // namespace lockstep::comm
