// Handshake: both ends of a new connection prove that they know the run's token, without sending
// it.
//
//   server → client   magic, nonce s
//   client → server   magic, nonce c, HMAC-SHA256(token, "client" purpose s c)
//   server → client   verdict, and if it is good: HMAC-SHA256(token, "server" purpose s c)
//
// or, where the server cannot keep the connection:
//
//   server → client   another magic
//
// Each part of what is signed has its length in front, so that no two inputs read the same. The
// purpose ("rendezvous", "control world") keeps a proof made for one listener from being used at
// another; the sides' names keep a proof from being sent back to its maker. What follows on the
// connection is neither encrypted nor signed: the handshake keeps strangers out, not someone who
// can change packets on their way.
//
// A pure state machine: bytes in, bytes out, no sockets. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep {

class Handshake {
 public:
  enum class Side { server, client };
  enum class State {
    going,     ///< send what to_send() gives, feed what comes
    proved,    ///< the other end knows the token; once to_send() is empty, the connection is ours
    refused,   ///< the other end says that we do not know the token
    stranger,  ///< the other end does not know the token
    no_room,   ///< the other end has no descriptor left for this connection
    nonsense,  ///< the other end does not speak this protocol
  };

  Handshake(Side side, std::string token, std::string purpose);

  /// What a server sends in place of a handshake for which it has no descriptor.
  static std::string no_room();

  /// Takes what it needs off the front of `received`; bytes beyond the handshake stay there. Does
  /// nothing unless the state is `going`.
  void feed(std::string& received);

  /// What has to be sent now; each byte is handed out once. To be sent even after `stranger`, so
  /// that the other end learns why.
  std::string to_send();

  State state() const { return state_; }

 private:
  bool take_magic_and(std::string& received, std::size_t bytes, std::string& taken);
  void feed_server(std::string& received);
  void feed_client(std::string& received);
  void take_verdict(std::string& received);
  std::string proof(std::string_view side) const;

  const Side side_;
  const std::string token_;
  const std::string purpose_;
  std::string mine_;    ///< this end's nonce
  std::string theirs_;  ///< the other end's, once it has come
  std::string outgoing_;
  State state_ = State::going;
};

/// A new token: 32 random bytes as hexadecimal digits.
std::string make_token();

}  // namespace lockstep
