// SyncMethod: what a worker does with its gradients between backward and the next forward, so that
// all workers make the same update. It sees no tensors: it is told which parameter's gradient is
// ready, that backward has ended, and to update; all on flat ranges. One file a method.
//
// Every method averages after backward and before the update: averaged gradients, not averaged
// weights, make W workers equal to one worker with the whole batch.
#pragma once

#include <lockstep/group.h>

#include "optim/optimizer.h"
#include "sync/gradients.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::sync {

class SyncMethod {
 public:
  virtual ~SyncMethod() = default;

  /// The gradient of a parameter is final. Called in the order in which backward finishes them, by
  /// the thread that runs backward. A method that overlaps starts its communication here.
  virtual void ready(std::size_t parameter) = 0;

  /// Backward has ended. On return all gradients are the average over all ranks, or their sum if
  /// that was asked for, the same to the bit on each.
  virtual void finish() = 0;

  /// Updates the weights. Methods that share out the update replace it.
  virtual void step(optim::Optimizer& optimizer) { optimizer.step(0, optimizer.size()); }
};

/// What `--sync` and `--algorithm` mean together. `method` is the name people call it by ("ring"),
/// `sync` and `algorithm` are its two axes ("all-reduce", ring).
struct Method {
  std::string method;
  std::string sync;
  Algorithm algorithm = Algorithm::automatic;
};

/// Throws UsageError for an unknown name or a contradiction (`--sync ring --algorithm star`).
Method parse_method(std::string_view sync, std::string_view algorithm);

/// The methods that `compare` shows, in its order. `--sync` also takes tree and halving-doubling,
/// short for an all-reduce by that algorithm.
const std::vector<std::string>& method_names();

/// The gradients must outlive the method. `op` is average or sum.
std::unique_ptr<SyncMethod> make_sync_method(const Method& method, Group group,
                                             const Gradients& gradients,
                                             ReduceOp op = ReduceOp::average);

}  // namespace lockstep::sync
