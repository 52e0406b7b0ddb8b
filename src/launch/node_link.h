// NodeLink: the launcher of any node but the first, connected to that of node 0.
#pragma once

#include "launch/node_connection.h"
#include "launch/node_watch.h"

namespace lockstep::launch {

class NodeLink : public NodeWatch {
 public:
  /// Connects; throws as connect_proved does. `run` is the identity of the launchers' run.
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

/// What launchers' connections are for, in their handshake: a launcher of another run is refused.
std::string node_purpose(const std::string& run);

}  // namespace lockstep::launch
