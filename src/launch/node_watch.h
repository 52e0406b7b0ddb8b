// NodeWatch: how the launchers of a run on several hosts watch each other. Node 0's hears of every
// failure, decides which came first and tells the others; each ends its own workers then. All stay
// until all are done, so that the rendezvous does not vanish early and all end with one verdict.
#pragma once

#include "launch/node_message.h"

#include <optional>

namespace lockstep::launch {

/// Never waits: to be called ten times a second or so. One thread at a time.
class NodeWatch {
 public:
  virtual ~NodeWatch() = default;

  virtual void tick() = 0;

  /// A worker of this node failed. It may turn out to be another one's consequence.
  virtual void report(const RunFailure& failure) = 0;

  /// All workers of this node have ended.
  virtual void done() = 0;

  /// Whether there is nothing left to wait for. REQUIRES: done() was called.
  virtual bool ended() const = 0;

  /// The run's first failure, once that is settled.
  const std::optional<RunFailure>& failure() const { return failure_; }

 protected:
  std::optional<RunFailure> failure_;
};

}  // namespace lockstep::launch
