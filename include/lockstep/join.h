// Join: ranks that do not have equally many batches train together. One that has run out keeps
// taking part in what the others do, without a batch, so that nobody waits for it in vain.
//
//   lockstep::Join join(ddp);
//   for (auto batch = batches.begin(); join.next(batch != batches.end());) {
//     sgd.zero_grad();
//     if (join.has_batch())
//       loss_of(*net, *batch++).backward();
//     else
//       ddp.backward_without_batch();
//     sgd.step();
//   }
//
// Every rank makes every step, so weights, buffers and the optimizer's state stay the same on all.
// docs/ddp.md says what a rank without a batch does where there is SyncBatchNorm.
#pragma once

#include <lockstep/ddp.h>

#include <cstddef>

namespace lockstep {

struct JoinOptions {
  /// Whether gradients are divided by all ranks, those that have run out included; then the steps
  /// of the last batches are smaller. Else they are the average over the ranks that have a batch.
  bool divide_by_all = false;
};

/// While it lives, gradients of the wrapped module are averaged as the options say, buffers are
/// those of the first rank that has a batch, and backward_without_batch() does not need
/// DdpOptions::allow_unused. One at a time for a wrapper, which must outlive it. All ranks make
/// it with the same options.
///
/// Thread safety: that of the wrapper.
class Join {
 public:
  explicit Join(DistributedDataParallel& ddp, const JoinOptions& options = {});
  ~Join();
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  /// A collective, before every step: one small message. `samples` are those of this rank's next
  /// batch, 0 if it has none; true does where all batches are of one size. Returns whether some
  /// rank has a batch: once none has, false on all.
  bool next(std::size_t samples);

  // About the step that next() has begun.

  bool has_batch() const { return samples_ > 0; }
  int ranks_with_batch() const { return ranks_; }

  /// What to multiply this rank's mean loss by where batches differ in size, so that gradients are
  /// the mean over all samples of the step; 1 where they do not.
  double factor() const;

 private:
  DistributedDataParallel& ddp_;
  const JoinOptions options_;
  std::size_t samples_ = 0;  ///< of this rank
  double all_samples_ = 0;
  int ranks_ = 0;  ///< that have a batch
};

}  // namespace lockstep
