// sharded: every rank updates 1/W of the weights (ZeRO-1). Every bucket is cut into W equal parts.
// While backward runs, buckets are reduce-scattered, so that rank r gets part r of each, averaged.
// The rank then updates its parts of the weights, and an all-gather copies all parts to all ranks.
// This sends as many bytes as ddp, with 1/W of the optimizer's state and work on each rank. (Not to
// be confused with shards, the logical ranks of shards.h.)
//
// Additions follow the fixed tree in shared memory, and on other transports if W is a power of two.
// The weights are then the same bits as with ddp along the tree.
#pragma once

#include "comm/flight/bucket_mark.h"
#include "sync/sync_method.h"

namespace lockstep::internal::sync {

class Sharded : public SyncMethod {
 public:
  /// A collective. REQUIRES: the layout's buckets can be cut into one part per rank; the weights
  /// are laid out like the gradients.
  Sharded(Group group, const Gradients& gradients, ArrayView weights, Algorithm algorithm,
          ReduceOp op);
  ~Sharded() override;

  void ready(std::size_t parameter) override;
  /// On return this rank's slice of the gradients is the average, or sum.
  void finish() override;
  void step(optim::Optimizer& optimizer) override;
  std::optional<OwnedSlice> owned_slice() const override;
  std::vector<Slot> runs_of(int rank) const override;
  void adopt_weights() override;

 private:
  /// The position of a bucket's part within this rank's slice; the same on every rank.
  const Slot& part(std::size_t bucket) const { return parts_[bucket]; }
  ArrayView gradients_slice() const;
  ArrayView weights_slice() const;
  ArrayView bucket_of_weights(std::size_t bucket) const;
  /// The part of the bucket that `rank` updates, in the flat array.
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
  Memory slice_;                        ///< this rank's slice of the gradients, then of the weights
  std::vector<std::size_t> missing_;    ///< by bucket: number of gradients not ready yet
  std::vector<Work> started_;           ///< reduce-scatters by bucket, in order
};

}  // namespace lockstep::internal::sync
