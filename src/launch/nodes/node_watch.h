// NodeWatch: how the launchers of a run on several hosts watch each other. Node 0's launcher
// collects all failures, decides which came first and tells the others; each then ends its own
// workers. All launchers stay until all are done, so that the rendezvous stays available and all
// report the same failure.
#pragma once

#include "launch/nodes/node_message.h"

#include <optional>

namespace lockstep::internal::launch {

/// Never blocks: call it about ten times per second. Thread safety: one thread at a time.
class NodeWatch {
 public:
  virtual ~NodeWatch() = default;

  virtual void tick() = 0;

  /// Reports that a worker of this node failed, possibly because of another failure.
  virtual void report(const RunFailure& failure) = 0;

  /// Reports that all workers of this node have ended.
  virtual void done() = 0;

  /// Whether there is nothing left to wait for. REQUIRES: done() was called.
  virtual bool ended() const = 0;

  /// The run's first failure, once that is decided.
  const std::optional<RunFailure>& failure() const { return failure_; }

 protected:
  std::optional<RunFailure> failure_;
};

}  // namespace lockstep::internal::launch
