// DistributedDataParallel: wrap any torch::nn::Module, and the gradients of all ranks' copies are
// averaged while backward runs.
#pragma once

#include <lockstep/bucket_hook.h>
#include <lockstep/group.h>

#include <torch/torch.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace lockstep {

/// All ranks give the same.
struct DdpOptions {
  /// Gradients are reduced in buckets: the first small, so that communication starts early in
  /// backward, the others larger, which costs less overhead a byte but leaves less time to hide it
  /// in.
  std::size_t first_bucket_bytes = 1 << 20;
  std::size_t bucket_bytes = 25 << 20;

  /// `automatic` is the transport's best.
  Algorithm algorithm = Algorithm::automatic;

  /// Whether a backward may leave parameters without a gradient. If not, it throws an Error that
  /// names them and the ranks, the same on all; a layer that was forgotten does not go unnoticed.
  /// If so, a rank without a gradient counts as one with zeros, and a parameter that no rank has a
  /// gradient for keeps the one it had. Costs nothing where every parameter has one.
  bool allow_unused = false;

  /// After every synchronised backward rank 0's buffers (the running statistics of batch norm, say)
  /// are copied to all ranks: one more message where there are any. Without it they stay each
  /// rank's own until sync_buffers().
  bool broadcast_buffers = true;

  /// Your own way to reduce a bucket, instead of `algorithm`.
  BucketHook hook = {};
};

/// While it lives, every backward through the module's parameters returns with gradients that are
/// the average over all ranks of the group, the same to the bit on each. Use the module, your
/// optimizer and your loop as before; docs/ddp.md says what that includes, and what may be done to
/// the module: what would leave gradients unaveraged makes backward throw, on all ranks.
///
/// At construction, a collective, the ranks make sure that they have the same parameters, buffers
/// and options (else all throw the same MismatchError), and rank 0's tensors are copied to all.
/// The wrapper then works on a group of its own, split from the one it is given: its collectives,
/// which run while backward does, never meet those of other wrappers or of your own. So several
/// modules may be wrapped with one group, and take part in one backward in any order.
/// Averaged gradients equal those of the whole batch where the loss is a mean and all ranks have
/// equally many samples. In a group of one nothing is hooked, and nothing costs anything.
///
/// Gradients are tensors in the group's memory. After the first backward they move once, into the
/// order in which they really came. After a backward that threw, set gradients to zero. The
/// destructor drops them: step the optimizer before.
///
/// Thread safety: constructed, used and destroyed by the thread that trains. A backward on another
/// thread throws UsageError.
class DistributedDataParallel {
 public:
  /// Keeps the module as long as it lives itself.
  DistributedDataParallel(std::shared_ptr<torch::nn::Module> module, Group group,
                          const DdpOptions& options = {});
  /// The same for torch::nn::Sequential, torch::nn::Linear and all other module holders.
  template <typename Contained>
  DistributedDataParallel(const torch::nn::ModuleHolder<Contained>& module, Group group,
                          const DdpOptions& options = {})
      : DistributedDataParallel(
            std::shared_ptr<torch::nn::Module>(module.is_empty() ? nullptr : module.ptr()),
            std::move(group), options) {}
  ~DistributedDataParallel();
  DistributedDataParallel(const DistributedDataParallel&) = delete;
  DistributedDataParallel& operator=(const DistributedDataParallel&) = delete;

  class NoSync;
  /// While the guard lives, backward only adds to this rank's own gradients. The first backward
  /// after it averages the sum. All ranks do the same.
  [[nodiscard]] NoSync no_sync();

  /// For a rank that has no batch while others run backward: takes part without gradients of its
  /// own, besides those kept under no_sync(), and has the average afterwards like all others. Needs
  /// allow_unused, or a Join (join.h), with which no gradients may be kept under no_sync().
  void backward_without_batch();

  /// A collective: copies rank 0's parameters and buffers to all ranks, as at construction. For
  /// programs in which rank 0 alone has loaded them from a file since.
  void sync_parameters();

  /// A collective: copies rank 0's buffers to all ranks.
  void sync_buffers();

  /// The wrapper's own group, for its counters and for observe(). Collectives on it are the
  /// wrapper's: make yours on another.
  Group& group();

 private:
  friend class Join;
  struct Participation;
  Participation& participation();
  void catch_up();

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// May outlive the wrapper that made it.
class DistributedDataParallel::NoSync {
 public:
  ~NoSync() { --*depth_; }
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;

 private:
  friend class DistributedDataParallel;
  explicit NoSync(std::shared_ptr<int> depth) : depth_(std::move(depth)) { ++*depth_; }
  std::shared_ptr<int> depth_;  ///< how many guards live
};

}  // namespace lockstep
