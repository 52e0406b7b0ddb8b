// NodeConnection: the connection between two launchers of a run. Both ends send a message every
// second, so that each detects when the other is gone, stopped or disconnected.
#pragma once

#include "base/deadline.h"
#include "base/net/guarded_listener.h"
#include "launch/nodes/node_message.h"

#include <chrono>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// Never blocks. Thread safety: one thread at a time.
class NodeConnection {
 public:
  /// The other end counts as lost after `silence` without a message.
  NodeConnection(AuthenticatedConnection connection, std::chrono::milliseconds silence);

  void send(const NodeMessage& message);

  /// Returns the messages since the last call, and sends a heartbeat. Call it often.
  std::vector<NodeMessage> service();

  /// Why the other end is lost; empty while it is not.
  const std::string& lost() const { return lost_; }

 private:
  void receive();
  void flush();
  void lose(const std::string& why);

  const std::chrono::milliseconds silence_;
  UniqueFd socket_;
  std::string received_;
  std::string outgoing_;
  std::string lost_;
  Deadline heard_;  ///< when the next message must have arrived
  Deadline say_;    ///< when to send the next message
};

}  // namespace lockstep::internal::launch
