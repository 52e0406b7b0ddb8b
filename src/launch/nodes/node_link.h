// NodeLink: the connection of another node's launcher to node 0's.
#pragma once

#include "launch/nodes/node_connection.h"
#include "launch/nodes/node_watch.h"

namespace lockstep::internal::launch {

class NodeLink : public NodeWatch {
 public:
  /// Connects; throws like connect_authenticated. `run` is the identity of the run.
  NodeLink(const Address& hub, const std::string& token, int node,
           std::chrono::milliseconds silence, const Deadline& deadline,
           const std::string& run = "");

  void tick() override;
  void report(const RunFailure& failure) override;
  void done() override;
  bool ended() const override { return ended_; }

 private:
  const Address hub_;
  const int node_;
  NodeConnection connection_;
  bool ended_ = false;
};

/// The purpose in the handshake of launchers' connections: a launcher of another run is refused.
std::string node_purpose(const std::string& run);

}  // namespace lockstep::internal::launch
