// NodeHub: node 0's launcher, to which the launchers of all other nodes connect.
#pragma once

#include "launch/nodes/node_connection.h"
#include "launch/nodes/node_watch.h"

#include <list>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

struct NodeHubOptions {
  /// A node's launcher counts as lost after this long without a message.
  std::chrono::milliseconds silence = std::chrono::seconds(30);
  /// How long other nodes may take to end their workers after a failure.
  std::chrono::milliseconds end_timeout = std::chrono::seconds(30);
  std::string run{};  ///< the run's identity
};

class NodeHub : public NodeWatch {
 public:
  /// Listens at once, at a port that the kernel picks.
  NodeHub(const std::string& host, const std::string& token, const NodeHubOptions& options);

  Address address() const { return listener_.address(); }

  /// Starts to watch the nodes. `hosts` has the name of every node's host.
  void expect(const std::vector<std::string>& hosts);

  void tick() override;
  void report(const RunFailure& failure) override;
  void done() override;
  bool ended() const override { return ended_; }

 private:
  struct Node {
    int number;
    std::string host;
    std::optional<NodeConnection> connection;
    bool done = false;
    bool lost = false;
  };

  void welcome();
  void listen_to(Node& node);
  void take(Node& node, const NodeMessage& message);
  void lose(Node& node, const std::string& why);
  void settle();
  void end_if_all_are_done();
  void tell_all(const NodeMessage& message);

  const NodeHubOptions options_;
  GuardedListener listener_;
  std::list<NodeConnection> unidentified_;  ///< connections whose node is not known yet
  std::vector<Node> nodes_;                 ///< all nodes but node 0
  std::vector<RunFailure> reported_;        ///< in order of arrival
  std::optional<Deadline> connected_;       ///< deadline for all nodes to connect
  std::optional<Deadline> settled_;         ///< when to decide which failure was first
  std::optional<Deadline> give_up_;         ///< when to stop waiting for the other nodes
  bool done_ = false;
  bool ended_ = false;
};

}  // namespace lockstep::internal::launch
