// Join: trains ranks with different numbers of batches together. A rank that has no batch left
// still takes part in the collectives of the others, so that they do not wait for it.
//
//     lockstep::Join join(ddp);
//     for (auto batch = batches.begin(); join.next(batch != batches.end());) {
//       sgd.zero_grad();
//       if (join.has_batch())
//         loss_of(*net, *batch++).backward();
//       else
//         ddp.backward_without_batch();
//       sgd.step();
//     }
//
// Every rank makes every step, so weights, buffers and optimizer state stay the same on all ranks.
// docs/ddp.md says what a rank without a batch does if the module has SyncBatchNorm.
#pragma once

#include <lockstep/ddp.h>

#include <cstddef>

namespace lockstep {

/// Options of Join. All ranks give the same.
struct JoinOptions {
  /// If true, gradients are divided by the number of all ranks, which makes the steps with fewer
  /// batches smaller. If false, they are averaged over the ranks that have a batch.
  bool divide_by_all = false;
};

/// Lets ranks with different numbers of batches train together.
///
/// While it lives, the gradients of the wrapped module are averaged as the options say, buffers are
/// copied from the first rank that has a batch, and backward_without_batch() does not need
/// DdpOptions::allow_unused. All ranks make one. A wrapper has one Join at a time and must outlive
/// it.
///
/// Thread safety: used by the thread that uses the wrapper.
class Join {
 public:
  /// For the module that `ddp` wraps.
  explicit Join(DistributedDataParallel& ddp, const JoinOptions& options = {});
  ~Join();
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  /// A collective, called before every step: one small message. `samples` is the size of this
  /// rank's next batch, 0 if it has none; pass a bool if all batches have one size. Returns whether
  /// any rank has a batch, the same on all ranks.
  bool next(std::size_t samples);

  // These describe the step that next() has begun.

  /// Whether this rank has a batch.
  bool has_batch() const { return samples_ > 0; }
  /// The number of ranks that have a batch.
  int ranks_with_batch() const { return ranks_; }

  /// Multiply this rank's mean loss by it if batches differ in size: then gradients are the mean
  /// over all samples of the step. It is 1 if batches have one size.
  double factor() const;

 private:
  DistributedDataParallel& ddp_;
  const JoinOptions options_;
  std::size_t samples_ = 0;  ///< of this rank's batch
  double all_samples_ = 0;   ///< of the batches of all ranks
  int ranks_ = 0;            ///< number of ranks that have a batch
};

}  // namespace lockstep
