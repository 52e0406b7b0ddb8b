// The messages between the launchers of one run, one launcher per host.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::internal::launch {

/// A failure that ends a run on all hosts.
struct RunFailure {
  int node = 0;  ///< the node on which it happened
  int code = 1;  ///< the exit code of every launcher
  /// Whether it is likely a cause: a worker that was killed, a launcher that is gone. Workers that
  /// exit by themselves may do so because they lost another worker.
  bool likely_cause = false;
  std::string text{};  ///< "rank 3 (pid 4711 on node7) was ended by signal 9 (Killed)"
};

struct NodeMessage {
  enum class Kind {
    hello = 1,  ///< the first message on a connection: the node's number
    alive,      ///< heartbeat: sent about once per second by both ends
    failed,     ///< to node 0: a failure on this node. From node 0: the run's first failure
    done,       ///< to node 0: all workers of this node have ended
    end,        ///< from node 0: all nodes are done
  };
  Kind kind = Kind::alive;
  RunFailure failure{};  ///< for failed; hello and done use only its node

  std::string encode() const;
  /// Throws Error if the bytes are not a message.
  static NodeMessage decode(std::string_view payload);
};

}  // namespace lockstep::internal::launch
