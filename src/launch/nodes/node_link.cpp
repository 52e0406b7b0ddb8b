#include "launch/nodes/node_link.h"

#include <fmt/format.h>

namespace lockstep::internal::launch {

NodeLink::NodeLink(const Address& hub, const std::string& token, int node,
                   std::chrono::milliseconds silence, const Deadline& deadline,
                   const std::string& run)
    : hub_(hub),
      node_(node),
      connection_(connect_authenticated(hub, token, node_purpose(run), deadline), silence) {
  connection_.send({NodeMessage::Kind::hello, {.node = node_}});
}

void NodeLink::tick() {
  for (const NodeMessage& message : connection_.service()) {
    if (message.kind == NodeMessage::Kind::failed && !failure_) failure_ = message.failure;
    if (message.kind == NodeMessage::Kind::end) ended_ = true;
  }
  if (ended_ || connection_.lost().empty()) return;
  ended_ = true;
  if (!failure_)
    failure_ = RunFailure{
        0, 1, true,
        fmt::format("lost the launcher of node 0 at {}: {}", hub_.host, connection_.lost())};
}

void NodeLink::report(const RunFailure& failure) {
  connection_.send({NodeMessage::Kind::failed, failure});
}

void NodeLink::done() {
  connection_.send({NodeMessage::Kind::done, {.node = node_}});
}

std::string node_purpose(const std::string& run) {
  return "launchers of run " + run;
}

}  // namespace lockstep::internal::launch
