// DistributedDataParallel: averages the gradients of a torch::nn::Module over all ranks while
// backward runs.
#pragma once

#include <lockstep/bucket_hook.h>
#include <lockstep/group.h>

#include <torch/torch.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace lockstep {

/// Options of DistributedDataParallel. All ranks give the same.
struct DdpOptions {
  /// Gradients are reduced in buckets. The first one is small, so that communication starts early
  /// in backward.
  std::size_t first_bucket_bytes = 1 << 20;
  /// Size of the other buckets. Larger ones have less overhead per byte, and less of backward to
  /// overlap with.
  std::size_t bucket_bytes = 25 << 20;

  /// The algorithm of the all-reduce; `automatic` is the best of the transport.
  Algorithm algorithm = Algorithm::automatic;

  /// Whether a backward may leave parameters without a gradient. If false, such a backward throws
  /// the same Error on all ranks, which names the parameters and the ranks: it reveals a layer that
  /// was forgotten. If true, a rank without a gradient counts as one with zeros, and a parameter
  /// without a gradient on any rank keeps the one it had. Free if every parameter has a gradient.
  bool allow_unused = false;

  /// Whether rank 0's buffers (the running statistics of batch norm, for example) are copied to all
  /// ranks after every synchronised backward: one more message if there are any. If false, each
  /// rank keeps its own until sync_buffers().
  bool broadcast_buffers = true;

  /// Your own reduction of a bucket, instead of an all-reduce with `algorithm`.
  BucketHook hook = {};
};

/// Averages the gradients of a module over all ranks while backward runs.
///
/// While it lives, every backward through the module's parameters returns with gradients that are
/// averaged over all ranks of the group, the same to the bit on each. Use the module, your
/// optimizer and your loop as before. docs/ddp.md lists what may be done to the module; anything
/// that would leave gradients unaveraged makes backward throw on all ranks.
///
/// Construction is a collective. The ranks compare their parameters, buffers and options, and all
/// throw the same MismatchError if these differ. Then rank 0's tensors are copied to all ranks.
///
/// The wrapper works on a group of its own, split from the one it is given. Its collectives, which
/// run during backward, do not interfere with yours or with those of other wrappers: several
/// modules may be wrapped with one group and take part in one backward in any order. In a group of
/// one rank nothing is hooked, and the wrapper costs nothing.
///
/// Averaged gradients equal those of the whole batch if the loss is a mean and all ranks have the
/// same number of samples.
///
/// Gradients are tensors in the group's memory. After the first backward they move once, into the
/// order in which they became ready. After a backward that threw, set gradients to zero. The
/// destructor drops the gradients: step the optimizer before.
///
/// Thread safety: constructed, used and destroyed by the thread that trains. A backward on another
/// thread throws UsageError.
class DistributedDataParallel {
 public:
  /// A collective. Shares ownership of the module.
  DistributedDataParallel(std::shared_ptr<torch::nn::Module> module, Group group,
                          const DdpOptions& options = {});
  /// The same for torch::nn::Sequential, torch::nn::Linear and other module holders.
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
  /// While the returned guard lives, backward adds to this rank's own gradients and sends nothing.
  /// The first backward after it averages the sum. All ranks do the same.
  [[nodiscard]] NoSync no_sync();

  /// For a rank that has no batch while others run backward: it takes part with no gradients, or
  /// with those that it kept under no_sync(), and has the average afterwards. Needs
  /// DdpOptions::allow_unused, or a Join (join.h), with which no gradients may be kept under
  /// no_sync().
  void backward_without_batch();

  /// A collective: copies rank 0's parameters and buffers to all ranks, as construction does. For
  /// programs in which rank 0 alone loads them from a file.
  void sync_parameters();

  /// A collective: copies rank 0's buffers to all ranks.
  void sync_buffers();

  /// The wrapper's own group, for counters() and observe(). Call collectives of your own on another
  /// group.
  Group& group();

 private:
  friend class Join;
  struct Participation;
  Participation& participation();
  void catch_up();

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// The guard that no_sync() returns. May outlive the wrapper.
class DistributedDataParallel::NoSync {
 public:
  ~NoSync() { --*depth_; }
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;

 private:
  friend class DistributedDataParallel;
  explicit NoSync(std::shared_ptr<int> depth) : depth_(std::move(depth)) { ++*depth_; }
  std::shared_ptr<int> depth_;  ///< number of living guards
};

}  // namespace lockstep
