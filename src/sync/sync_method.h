// SyncMethod: what a worker does with its gradients between backward and the next forward, so that
// all workers make the same update. A method sees no tensors: it is notified that a parameter's
// gradient is ready, that backward has ended, and that the weights are to be updated, all on flat
// ranges. Each method has its own file.
//
// Exact methods average gradients after backward and before the update: averaged gradients, not
// averaged weights, make W workers equal to one worker with the whole batch. Other methods trade
// this for fewer messages (local-sgd) or shorter waits (server with --staleness).
//
// Thread safety: none; the thread that runs backward calls all functions.
#pragma once

#include <lockstep/group.h>

#include "optim/optimizer.h"
#include "sync/gradients.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::sync {

/// The weights and gradients that one rank's optimizer updates, for methods that divide the update
/// among the ranks. Both are the method's memory and hold the rank's runs of the flat array one
/// after another.
struct OwnedSlice {
  ArrayView weights;
  ArrayView gradients;
};

class SyncMethod {
 public:
  virtual ~SyncMethod() = default;

  /// The gradient of a parameter is final. Called in the order in which backward finishes
  /// gradients, by the thread that runs backward. A method that overlaps starts its communication
  /// here.
  virtual void ready(std::size_t parameter) = 0;

  /// Backward has ended. On return all gradients are the average over all ranks, or the sum if that
  /// was requested, the same to the bit on each rank; except for methods that divide the update or
  /// are not exact.
  virtual void finish() = 0;

  /// Instead of finish(), after backward has thrown: ddp completes the communication that it
  /// started, so that other ranks do not wait for this one. Never throws.
  virtual void abandon() noexcept {}

  /// Updates the weights. Methods that divide the update override it. REQUIRES: the optimizer
  /// outlives the method, which may keep using it.
  virtual void step(optim::Optimizer& optimizer) { optimizer.step(0, optimizer.size()); }

  /// Whether step() sends the gradients to servers, which make the update, and waits for weights.
  virtual bool updates_on_server() const { return false; }

  /// The weights and gradients to make the optimizer for; none for all of them. If it has a value,
  /// the optimizer must be element-wise.
  virtual std::optional<OwnedSlice> owned_slice() const { return std::nullopt; }

  /// The runs of the flat array that a rank updates, in the order of its slice. Empty if the update
  /// is not divided, or if that rank updates nothing.
  virtual std::vector<Slot> runs_of(int /*rank*/) const { return {}; }

  /// The weights were replaced, the same on all ranks: before the first step, and after a state was
  /// restored.
  virtual void adopt_weights() {}

  /// A collective. On return all ranks have the same weights, and the same optimizer state unless
  /// the update is divided. Call it before weights are evaluated or saved.
  virtual void settle(optim::Optimizer&) {}

  /// Sets the rate of the following steps. Use this instead of the optimizer's function, because a
  /// server may be using the optimizer.
  virtual void set_learning_rate(optim::Optimizer& optimizer, double rate) {
    optimizer.set_learning_rate(rate);
  }
};

/// `--sync` and `--algorithm`, resolved. `method` is the common name ("ring"); `sync` and
/// `algorithm` are its two axes ("all-reduce", ring).
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

/// The methods among them that average all gradients on every rank, so that each rank updates all
/// weights.
const std::vector<std::string>& averaging_method_names();

/// Whether a Method's `sync` is one of averaging_method_names().
bool averages_gradients(std::string_view sync);

/// Options of some methods. REQUIRES: the same on all ranks.
struct MethodOptions {
  /// local-sgd: steps between two averages of the weights. More steps cost less communication, and
  /// let the workers drift further apart.
  int local_steps = 4;
  /// server: how many steps a worker may be ahead of the slowest; none for a synchronous server.
  std::optional<int> staleness = {};
  /// server: the number of servers. The first ranks have one each, with equal parts of the weights.
  int servers = 1;
  /// ddp: compression of buckets; see compress::parse. Empty for none.
  std::string compress = {};
};

/// Throws UsageError for values out of range.
void require_valid(const MethodOptions& options, int workers);

/// The gradients must outlive the method. `op` is average or sum. `weights` are laid out like the
/// gradients, in the group's memory; methods of averaging_method_names() need none.
std::unique_ptr<SyncMethod> make_sync_method(const Method& method, Group group,
                                             const Gradients& gradients,
                                             ReduceOp op = ReduceOp::average,
                                             ArrayView weights = {},
                                             const MethodOptions& options = {});

}  // namespace lockstep::internal::sync
