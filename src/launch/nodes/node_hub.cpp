#include "launch/nodes/node_hub.h"

#include "launch/nodes/node_link.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::launch {

namespace {

// A cause on one host and its consequence on another may reach node 0 in either order within this
// time.
constexpr std::chrono::milliseconds kSettling(500);

}  // namespace

NodeHub::NodeHub(const std::string& host, const std::string& token, const NodeHubOptions& options)
    : options_(options), listener_({host, 0}, token, node_purpose(options.run)) {}

void NodeHub::expect(const std::vector<std::string>& hosts) {
  for (std::size_t node = 1; node < hosts.size(); ++node)
    nodes_.push_back({static_cast<int>(node), hosts[node], {}});
  connected_ = Deadline::after(options_.silence);
}

void NodeHub::tick() {
  welcome();
  for (Node& node : nodes_) listen_to(node);
  settle();
  end_if_all_are_done();
}

void NodeHub::report(const RunFailure& failure) {
  reported_.push_back(failure);
  if (!settled_) settled_ = Deadline::after(kSettling);
}

void NodeHub::done() {
  done_ = true;
}

/// Accepts new connections, and assigns those that have sent a hello to their node.
void NodeHub::welcome() {
  for (AuthenticatedConnection& connection : listener_.service())
    unidentified_.emplace_back(std::move(connection), options_.silence);
  for (auto connection = unidentified_.begin(); connection != unidentified_.end();) {
    const std::vector<NodeMessage> messages = connection->service();
    if (messages.empty() && connection->lost().empty()) {
      ++connection;
      continue;
    }
    if (!messages.empty() && messages[0].kind == NodeMessage::Kind::hello)
      for (Node& node : nodes_)
        if (node.number == messages[0].failure.node && !node.connection) {
          node.connection.emplace(std::move(*connection));
          for (std::size_t i = 1; i < messages.size(); ++i) take(node, messages[i]);
          if (failure_) node.connection->send({NodeMessage::Kind::failed, *failure_});
        }
    connection = unidentified_.erase(connection);
  }
}

void NodeHub::listen_to(Node& node) {
  if (node.lost) return;
  if (!node.connection) {
    if (connected_->passed()) lose(node, "it never connected");
    return;
  }
  for (const NodeMessage& message : node.connection->service()) take(node, message);
  if (!node.connection->lost().empty()) lose(node, node.connection->lost());
}

void NodeHub::take(Node& node, const NodeMessage& message) {
  if (message.kind == NodeMessage::Kind::failed) report(message.failure);
  if (message.kind == NodeMessage::Kind::done) node.done = true;
}

void NodeHub::lose(Node& node, const std::string& why) {
  node.lost = true;
  if (!node.done)
    report({node.number, 1, true,
            fmt::format("lost the launcher of node {} on {}: {}", node.number, node.host, why)});
}

void NodeHub::settle() {
  if (failure_ || !settled_ || !settled_->passed()) return;
  const auto cause = std::find_if(reported_.begin(), reported_.end(),
                                  [](const RunFailure& failure) { return failure.likely_cause; });
  failure_ = cause != reported_.end() ? *cause : reported_.front();
  give_up_ = Deadline::after(options_.end_timeout);
  tell_all({NodeMessage::Kind::failed, *failure_});
}

void NodeHub::end_if_all_are_done() {
  if (ended_ || !done_ || (settled_ && !failure_)) return;
  const bool all = std::all_of(nodes_.begin(), nodes_.end(),
                               [](const Node& node) { return node.done || node.lost; });
  if (!all && !(give_up_ && give_up_->passed())) return;
  tell_all({NodeMessage::Kind::end});
  ended_ = true;
}

void NodeHub::tell_all(const NodeMessage& message) {
  for (Node& node : nodes_)
    if (node.connection) node.connection->send(message);
}

}  // namespace lockstep::internal::launch
