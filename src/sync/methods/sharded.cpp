#include "sync/methods/sharded.h"

#include "base/bytes.h"
#include "base/check.h"
#include "comm/group_core.h"

#include <bit>

namespace lockstep::internal::sync {

namespace {

/// Replaces `auto` by an algorithm along the tree if that costs nothing.
Algorithm best(const Group& group, Algorithm asked) {
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(group.size()));
  if (asked == Algorithm::automatic && !group.has(Algorithm::direct) && power_of_two)
    return Algorithm::halving_doubling;
  return asked;
}

}  // namespace

Sharded::Sharded(Group group, const Gradients& gradients, ArrayView weights, Algorithm algorithm,
                 ReduceOp op)
    : group_(std::move(group)),
      owner_(group_.core()->new_bucket_owner()),
      gradients_(gradients),
      weights_(weights),
      algorithm_(best(group_, algorithm)),
      op_(op),
      bucket_of_(gradients.parameters().size()) {
  const Layout& layout = gradients.layout();
  const auto ranks = static_cast<std::size_t>(group_.size());
  LOCKSTEP_CHECK(weights.count == layout.size(), "{} weights, {} gradients", weights.count,
                 layout.size());
  std::size_t begin = 0;
  for (const Bucket& bucket : layout.buckets()) {
    LOCKSTEP_CHECK(bucket.slot.count % ranks == 0, "a bucket of {} cannot be cut into {} parts",
                   bucket.slot.count, ranks);
    for (std::size_t parameter : bucket.parameters) bucket_of_[parameter] = parts_.size();
    parts_.push_back({begin, bucket.slot.count / ranks});
    begin += parts_.back().count;
  }
  slice_ = group_.allocate(2 * begin * size_of(layout.type()));
  clear();
}

Sharded::~Sharded() {
  // Running collectives belong to the group until they have ended, with or without an error.
  for (Work& work : started_) {
    try {
      work.wait();
    } catch (...) {  // every later call on the group throws the same error
    }
  }
}

void Sharded::clear() {
  started_.clear();
  missing_.clear();
  for (const Bucket& bucket : gradients_.layout().buckets())
    missing_.push_back(bucket.parameters.size());
}

ArrayView Sharded::gradients_slice() const {
  const std::size_t count = gradients_.layout().size() / static_cast<std::size_t>(group_.size());
  return {slice_.data(), count, gradients_.layout().type()};
}

ArrayView Sharded::weights_slice() const {
  const ArrayView gradients = gradients_slice();
  return {slice_.data() + gradients.bytes(), gradients.count, gradients.type};
}

ArrayView Sharded::bucket_of_weights(std::size_t bucket) const {
  const Slot& slot = gradients_.layout().buckets()[bucket].slot;
  return weights_.slice(slot.begin, slot.count);
}

Slot Sharded::run_of(std::size_t bucket, int rank) const {
  const std::size_t count = part(bucket).count;
  return {gradients_.layout().buckets()[bucket].slot.begin + static_cast<std::size_t>(rank) * count,
          count};
}

std::optional<OwnedSlice> Sharded::owned_slice() const {
  return OwnedSlice{weights_slice(), gradients_slice()};
}

std::vector<Slot> Sharded::runs_of(int rank) const {
  std::vector<Slot> runs;
  for (std::size_t bucket = 0; bucket < parts_.size(); ++bucket)
    runs.push_back(run_of(bucket, rank));
  return runs;
}

void Sharded::adopt_weights() {
  for (std::size_t bucket = 0; bucket < parts_.size(); ++bucket) {
    const Slot run = run_of(bucket, group_.rank());
    const ArrayView mine = weights_slice().slice(part(bucket).begin, run.count);
    copy_bytes(mine.data, weights_.slice(run.begin, run.count).data, mine.bytes());
  }
}

void Sharded::ready(std::size_t parameter) {
  --missing_[bucket_of_[parameter]];
  // Buckets start in the same order on all ranks. The last one has nothing left to overlap with:
  // finish() runs it on the caller's thread.
  while (started_.size() + 1 < missing_.size() && missing_[started_.size()] == 0) {
    const std::size_t bucket = started_.size();
    const comm::BucketMark mark(bucket, owner_);
    started_.push_back(group_.reduce_scatter_async(
        gradients_.bucket(bucket), gradients_slice().slice(part(bucket).begin, part(bucket).count),
        op_, algorithm_));
  }
}

void Sharded::finish() {
  for (std::size_t bucket = started_.size(); bucket < parts_.size(); ++bucket) {
    const comm::BucketMark mark(bucket, owner_);
    group_.reduce_scatter(gradients_.bucket(bucket),
                          gradients_slice().slice(part(bucket).begin, part(bucket).count), op_,
                          algorithm_);
  }
  for (Work& work : started_) work.wait();
  clear();
}

void Sharded::step(optim::Optimizer& optimizer) {
  std::vector<Work> gathers;
  for (std::size_t bucket = 0; bucket < parts_.size(); ++bucket) {
    const Slot& mine = part(bucket);
    optimizer.step(mine.begin, mine.count);
    const ArrayView updated = weights_slice().slice(mine.begin, mine.count);
    const comm::BucketMark mark(bucket, owner_);
    if (bucket + 1 < parts_.size())
      gathers.push_back(group_.all_gather_async(updated, bucket_of_weights(bucket)));
    else
      group_.all_gather(updated, bucket_of_weights(bucket));
  }
  for (Work& work : gathers) work.wait();
}

}  // namespace lockstep::internal::sync
