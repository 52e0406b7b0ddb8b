// Feed: the images of one worker, step by step. The sampler says which images a global batch has;
// the feed cuts out the slices of the worker's shards, and each slice's parts, and loads them ahead
// of time.
#pragma once

#include "data/prefetcher.h"
#include "data/sampler.h"
#include "sync/shards.h"
#include "train/batch_source.h"
#include "train/batch_split.h"

#include <cstddef>
#include <map>

namespace lockstep::internal::train {

/// Used by one thread at a time.
class Feed : public BatchSource {
 public:
  /// The loader must outlive the feed. `shards` are those of this worker. `loader_threads` load
  /// ahead; 0 chooses one thread, or none for small batches. Each shard's slice of a global batch
  /// comes in `parts` micro-batches.
  Feed(const data::Loader& loader, const data::SamplerOptions& options, const sync::Shards& shards,
       int loader_threads = 0, int parts = 1);

  std::size_t batches_per_epoch() const { return sampler_.batches_per_epoch(); }

  /// Images in the global batch of a step; steps count from 0.
  std::size_t images_of(std::size_t step) const {
    return sampler_.size_of_batch(step % batches_per_epoch());
  }

  /// 0 if next() loads the images itself.
  int loader_threads() const { return loader_threads_; }

  /// Steps completed, including skipped ones.
  std::size_t done() const override { return next_ / batches_per_step(); }

  MicroBatch next() override;

  /// Splits later global batches over the workers like this instead of evenly, beginning with the
  /// first step that nothing is loaded for yet. Returns that step, counted from 0; ranks that call
  /// it in the same step get the same. REQUIRES: each worker has one shard.
  std::size_t set_split(BatchSplit split);

  /// Begins after so many steps. REQUIRES: next() was not called yet.
  void skip(std::size_t steps) { next_ = steps * batches_per_step(); }

 private:
  void look_ahead();
  /// The slice of this shard in a step's global batch.
  data::Range slice_of(int shard, std::size_t step) const;
  /// Micro-batches of this worker in a step.
  std::size_t batches_per_step() const { return static_cast<std::size_t>(shards_.count) * parts_; }
  std::size_t epoch_of(std::size_t step) const { return 1 + step / batches_per_epoch(); }

  data::Sampler sampler_;
  const sync::Shards shards_;
  const int loader_threads_;
  const std::size_t parts_;                   ///< micro-batches of a shard in a step
  std::size_t next_ = 0;                      ///< next micro-batch, counted over the whole run
  std::map<std::size_t, BatchSplit> splits_;  ///< by their first step
  data::Prefetcher prefetcher_;
};

}  // namespace lockstep::internal::train
