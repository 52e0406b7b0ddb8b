// Handshake: both ends of a new connection prove that they know the run's token, without sending
// it.
//
//   server → client   magic, nonce s
//   client → server   magic, nonce c, HMAC-SHA256(token, "client" purpose s c)
//   server → client   result, and on success: HMAC-SHA256(token, "server" purpose s c)
//
// or, if the server cannot keep the connection:
//
//   server → client   another magic
//
// Each part of the signed data is preceded by its length, so that no two inputs are equal as bytes.
// The purpose ("rendezvous", "control world") keeps a proof made for one listener from being used
// at another; the names of the sides keep a proof from being reflected to its maker. The data that
// follows on the connection is neither encrypted nor signed: the handshake keeps out
// unauthenticated processes, but not an attacker who can modify packets in transit.
//
// A pure state machine: bytes in, bytes out, no sockets. Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::internal {

class Handshake {
 public:
  enum class Side { server, client };
  enum class State {
    in_progress,     ///< send the bytes of to_send(), pass received bytes to feed()
    authenticated,   ///< the other end knows the token; the connection is usable once to_send() is
                     ///< empty
    refused,         ///< the other end rejected this end's token
    wrong_token,     ///< the other end does not know the token
    no_room,         ///< the other end is out of descriptors for this connection
    wrong_protocol,  ///< the other end does not use this protocol
  };

  Handshake(Side side, std::string token, std::string purpose);

  /// The server's reply instead of a handshake if it is out of descriptors.
  static std::string no_room();

  /// Takes the handshake's bytes off the front of `received`; later bytes stay there. Does nothing
  /// unless the state is `in_progress`.
  void feed(std::string& received);

  /// The bytes to send now; each is returned once. Send them even after `wrong_token`, so that the
  /// other end learns the reason.
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
  std::string theirs_;  ///< the other end's nonce, once received
  std::string outgoing_;
  State state_ = State::in_progress;
};

/// A new token: 32 random bytes as hexadecimal digits.
std::string make_token();

}  // namespace lockstep::internal
