// ControlLink: one rank's connection to one peer for control messages. Never blocks: what does not
// fit the socket's buffer waits here. That is little, however slow the peer is: a rank waits for
// its peers after each call, and announces no more than kMessageSlots messages that they have not
// taken.
//
// One thread at a time (ControlMesh sees to it).
#pragma once

#include "base/unique_fd.h"
#include "comm/blame.h"
#include "comm/mesh/control_message.h"
#include "comm/mesh/peer_sockets.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::comm {

class ControlLink {
 public:
  enum class Presence {
    present,
    left,  ///< it said goodbye
    died,  ///< the connection ended without a goodbye
  };

  ControlLink() = default;
  explicit ControlLink(ProvedConnection connection);

  int fd() const { return socket_.get(); }
  Presence presence() const { return presence_; }
  /// Whom the peer blamed in its goodbye.
  Blame blame() const { return blame_; }

  /// Sends it, or keeps it until flush() can. Does nothing once the peer is gone.
  void send(const ControlMessage& message);
  void flush();
  bool has_unsent() const { return !outgoing_.empty(); }

  /// What has come since the last call, or the first part of it where that is much. Notices the end
  /// of the connection.
  std::vector<ControlMessage> receive();

  /// Says goodbye and, once all is sent, ends this side of the connection; the peer's watcher
  /// notices at once.
  void leave(const Blame& blame);

  /// The peer has ended, although its connection has not: a child of it holds that open. Or it does
  /// not keep to the protocol, and is as good as dead.
  void give_up() { end(); }

 private:
  void take_frames(std::vector<ControlMessage>& messages);
  void end();

  UniqueFd socket_;
  std::string received_;
  std::string outgoing_;
  Presence presence_ = Presence::present;
  Blame blame_;
  bool said_goodbye_ = false;
  bool ended_ = false;  ///< this side
};

}  // namespace lockstep::comm
