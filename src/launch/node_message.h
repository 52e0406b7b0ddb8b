// What the launchers of one run, one a host, tell each other.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::launch {

/// A failure that ends a run on all hosts.
struct RunFailure {
  int node = 0;  ///< where it happened
  int code = 1;  ///< what every launcher exits with
  /// Whether it is likely a cause: a worker that was killed, a launcher that is gone. Workers that
  /// exit by themselves may do so because they lost another.
  bool likely_cause = false;
  std::string text{};  ///< "rank 3 (pid 4711 on node7) was ended by signal 9 (Killed)"
};

struct NodeMessage {
  enum class Kind {
    hello = 1,  ///< the first on a connection: which node it is
    alive,      ///< sent about once a second by both ends
    failed,     ///< to node 0: what happened here. From node 0: the run's first failure
    done,       ///< to node 0: all workers of this node have ended
    end,        ///< from node 0: all nodes are done
  };
  Kind kind = Kind::alive;
  RunFailure failure{};  ///< of failed; hello and done use only its node

  std::string encode() const;
  /// Throws Error if the bytes are not a message.
  static NodeMessage decode(std::string_view payload);
};

}  // namespace lockstep::launch
