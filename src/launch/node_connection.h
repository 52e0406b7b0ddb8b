// NodeConnection: two launchers of a run talking. Both send something every second, so that each
// notices when the other is gone, stopped or cut off.
#pragma once

#include "base/deadline.h"
#include "base/guarded_listener.h"
#include "launch/node_message.h"

#include <chrono>
#include <string>
#include <vector>

namespace lockstep::launch {

/// Never waits. One thread at a time.
class NodeConnection {
 public:
  /// The other end counts as lost after `silence` without a word.
  NodeConnection(ProvedConnection connection, std::chrono::milliseconds silence);

  void send(const NodeMessage& message);

  /// What has come since the last call, and a sign of life to the other end. To be called often.
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
  Deadline heard_;  ///< when the other end must have said something
  Deadline say_;    ///< when to say something
};

}  // namespace lockstep::launch
