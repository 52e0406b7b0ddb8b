// SyncMethod: what a worker does with its gradients between backward and the next forward, so that
// all workers make the same update. It sees no tensors: it is told which parameter's gradient is
// ready, that backward has ended, and to update; all on flat ranges. One file a method.
//
// Methods that stay exact average after backward and before the update: averaged gradients, not
// averaged weights, make W workers equal to one worker with the whole batch. Others give that up
// for fewer messages (local-sgd) or fewer waits (server with --staleness).
#pragma once

#include <lockstep/group.h>

#include "optim/optimizer.h"
#include "sync/gradients.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::sync {

/// What one rank's optimizer updates where ranks share out the update: weights by gradients, both
/// the method's own, which hold its runs of the flat array one after another.
struct Share {
  ArrayView weights;
  ArrayView gradients;
};

class SyncMethod {
 public:
  virtual ~SyncMethod() = default;

  /// The gradient of a parameter is final. Called in the order in which backward finishes them, by
  /// the thread that runs backward. A method that overlaps starts its communication here.
  virtual void ready(std::size_t parameter) = 0;

  /// Backward has ended. On return all gradients are the average over all ranks, or their sum if
  /// that was asked for, the same to the bit on each; unless the method shares out the update, or
  /// is not exact.
  virtual void finish() = 0;

  /// Updates the weights. Methods that share out the update replace it. REQUIRES: the optimizer
  /// outlives the method, which may go on using it.
  virtual void step(optim::Optimizer& optimizer) { optimizer.step(0, optimizer.size()); }

  /// What the optimizer given to step() is to be made for; none for all weights and gradients. It
  /// must be one that treats every element by itself.
  virtual std::optional<Share> share() const { return std::nullopt; }

  /// The runs of the flat array that a rank updates, in the order of its share; none where the
  /// update is not shared out, or that rank has no part in it.
  virtual std::vector<Slot> runs_of(int /*rank*/) const { return {}; }

  /// The weights were set from outside, the same on all ranks: before the first step, and whenever
  /// a state was restored.
  virtual void adopt_weights() {}

  /// A collective: on return all ranks have the same weights, and the same optimizer's state unless
  /// the update is shared out. To be called before they are evaluated or saved.
  virtual void settle(optim::Optimizer&) {}

  /// Of the steps to come. Not by the optimizer itself: a server may be using it.
  virtual void set_learning_rate(optim::Optimizer& optimizer, double rate) {
    optimizer.set_learning_rate(rate);
  }
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

/// Those of them that leave the average of all gradients on every rank, and the update to it.
const std::vector<std::string>& averaging_method_names();

/// Whether a Method's `sync` is one of them.
bool averages_gradients(std::string_view sync);

/// What some methods can be told beside their name. All ranks give the same.
struct MethodOptions {
  /// local-sgd: steps between two averages of the weights. More cost less communication, and let
  /// the workers drift further apart.
  int local_steps = 4;
  /// server: how many steps a worker may be ahead of the slowest; none for a synchronous server.
  std::optional<int> staleness = {};
  /// server: the first so many ranks have a server each, for as large a part of the weights.
  int servers = 1;
  /// ddp: how buckets are compressed; see compress::parse. Empty for not at all.
  std::string compress = {};
};

/// Throws UsageError for values that make no sense for so many workers.
void require_sense(const MethodOptions& options, int workers);

/// The gradients must outlive the method. `op` is average or sum. `weights` are laid out like the
/// gradients, in the group's memory; methods of averaging_method_names() need none.
std::unique_ptr<SyncMethod> make_sync_method(const Method& method, Group group,
                                             const Gradients& gradients,
                                             ReduceOp op = ReduceOp::average,
                                             ArrayView weights = {},
                                             const MethodOptions& options = {});

}  // namespace lockstep::sync
