// ControlLink: one rank's connection to one peer for control messages. It never blocks: bytes that
// exceed the socket's buffer are queued here. The queue stays short, however slow the peer is,
// because a rank waits for its peers after each call and announces at most kMessageSlots messages
// that the peer has not received.
//
// Thread safety: one thread at a time; ControlMesh ensures it.
#pragma once

#include "base/unique_fd.h"
#include "comm/failure_attribution.h"
#include "comm/mesh/control_message.h"
#include "comm/mesh/peer_sockets.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

class ControlLink {
 public:
  enum class Presence {
    present,
    left,  ///< it sent a goodbye message
    died,  ///< the connection ended without a goodbye message
  };

  ControlLink() = default;
  explicit ControlLink(AuthenticatedConnection connection);

  int fd() const { return socket_.get(); }
  Presence presence() const { return presence_; }
  /// The cause that the peer gave in its goodbye message.
  Culprit culprit() const { return culprit_; }

  /// Sends the message, or queues it until flush(). Does nothing once the peer is gone.
  void send(const ControlMessage& message);
  void flush();
  bool has_unsent() const { return !outgoing_.empty(); }

  /// The messages received since the last call, or the first of them if there are many. Detects the
  /// end of the connection.
  std::vector<ControlMessage> receive();

  /// Sends a goodbye message and, once everything is sent, closes this side of the connection; the
  /// peer's watcher notices at once.
  void leave(const Culprit& culprit);

  /// Treats the peer as dead although its connection is open: its process has ended and a child of
  /// it holds the connection, or it violated the protocol.
  void give_up() { end(); }

 private:
  void take_frames(std::vector<ControlMessage>& messages);
  void end();

  UniqueFd socket_;
  std::string received_;
  std::string outgoing_;
  Presence presence_ = Presence::present;
  Culprit culprit_;
  bool said_goodbye_ = false;
  bool ended_ = false;  ///< this side is closed
};

}  // namespace lockstep::internal::comm
