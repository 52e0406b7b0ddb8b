// sharded: the update is shared out. Every bucket is cut into W equal parts. While backward runs,
// buckets are reduce-scattered, so that rank r gets part r of each as the average of all ranks;
// then it updates its parts of the weights, and an all-gather gives all parts to all ranks. As many
// bytes as ddp, but only 1/W of the optimizer's state and work on each rank.
//
// Additions follow the fixed tree where ranks share memory, and over a network where W is a power
// of two: the weights are then the same bits as with ddp that adds along the tree.
#pragma once

#include "comm/flight/bucket_mark.h"
#include "sync/sync_method.h"

namespace lockstep::sync {

class Sharded : public SyncMethod {
 public:
  /// A collective. REQUIRES: the layout's buckets can be cut into as many parts as there are ranks;
  /// the weights are laid out like the gradients.
  Sharded(Group group, const Gradients& gradients, ArrayView weights, Algorithm algorithm,
          ReduceOp op);
  ~Sharded() override;

  void ready(std::size_t parameter) override;
  /// On return this rank's share of the gradients is the average, or sum.
  void finish() override;
  void step(optim::Optimizer& optimizer) override;
  std::optional<Share> share() const override;
  std::vector<Slot> runs_of(int rank) const override;
  void adopt_weights() override;

 private:
  /// A bucket's part on every rank: where it lies in this rank's share.
  const Slot& part(std::size_t bucket) const { return parts_[bucket]; }
  ArrayView gradients_share() const;
  ArrayView weights_share() const;
  ArrayView bucket_of_weights(std::size_t bucket) const;
  /// For ranks whose parts are those of `rank`.
  Slot run_of(std::size_t bucket, int rank) const;
  void clear();

  Group group_;
  const comm::BucketOwner owner_;
  const Gradients& gradients_;
  const ArrayView weights_;
  const Algorithm algorithm_;
  const ReduceOp op_;
  std::vector<Slot> parts_;             ///< by bucket
  std::vector<std::size_t> bucket_of_;  ///< by parameter
  Memory share_;                        ///< of the gradients, then of the weights
  std::vector<std::size_t> missing_;    ///< by bucket: gradients that are not ready yet
  std::vector<Work> started_;           ///< reduce-scatters by bucket, in order
};

}  // namespace lockstep::sync
