// NodeHub: node 0's launcher, to which those of all other nodes are connected.
#pragma once

#include "launch/node_connection.h"
#include "launch/node_watch.h"

#include <list>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::launch {

struct NodeHubOptions {
  /// After how long without a word from a node's launcher it counts as lost.
  std::chrono::milliseconds silence = std::chrono::seconds(30);
  /// How long other nodes may take to end their workers after a failure.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  std::string run{};  ///< its identity
};

class NodeHub : public NodeWatch {
 public:
  /// Listens at once, at a port that the kernel picks.
  NodeHub(const std::string& host, const std::string& token, const NodeHubOptions& options);

  Address address() const { return listener_.address(); }

  /// From now on the nodes are watched. `hosts` has the name of every node's host.
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
  std::list<NodeConnection> strangers_;  ///< have not said yet which node they are
  std::vector<Node> nodes_;              ///< all but node 0
  std::vector<RunFailure> reported_;     ///< in the order in which they came
  std::optional<Deadline> connected_;    ///< when all nodes must have connected
  std::optional<Deadline> settled_;      ///< when to decide which failure was first
  std::optional<Deadline> give_up_;      ///< when not to wait for the others any more
  bool done_ = false;
  bool ended_ = false;
};

}  // namespace lockstep::launch
