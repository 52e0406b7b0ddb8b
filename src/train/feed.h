// Feed: one worker's images of a run, step after step, within a step shard after shard, and within
// a shard part after part. The line from sampler to loader: which images a global batch has, which
// of them are whose, loaded before they are needed.
#pragma once

#include "data/prefetcher.h"
#include "data/sampler.h"
#include "sync/shards.h"
#include "train/division.h"
#include "train/mistake.h"

#include <cstddef>
#include <map>

namespace lockstep::train {

class Feed {
 public:
  /// A shard's share of one global batch, or a part of it.
  struct Share {
    std::size_t epoch = 0;         ///< from 1
    std::size_t global_batch = 0;  ///< images of all shards
    const data::Batch* images = nullptr;
  };

  /// The loader must outlive it. So many threads load ahead; 0 for one, or none where batches are
  /// small. Each shard's share comes in so many parts.
  Feed(const data::Loader& loader, const data::SamplerOptions& options, const sync::Shards& shards,
       Mistake mistake = Mistake::none, int loader_threads = 0, int parts = 1);

  std::size_t batches_per_epoch() const { return sampler_.batches_per_epoch(); }

  /// Of the global batch of a step, counted from 0.
  std::size_t images_of(std::size_t step) const {
    return sampler_.size_of_batch(step % batches_per_epoch());
  }

  /// 0 if the caller of next() loads them itself.
  int loader_threads() const { return loader_threads_; }

  /// Steps given so far, those that were skipped included.
  std::size_t done() const { return next_ / shares_per_step(); }

  /// The next part of the worker's shard, after its last the first of the next shard, after these
  /// the first in the next step; valid until another is asked for.
  Share next();

  /// From the first step on that nothing is being loaded for yet, global batches are shared out
  /// like this instead of evenly; returns that step, counted from 0. It is the same on all ranks
  /// that are in the same step. REQUIRES: each worker has one shard.
  std::size_t divide(Division division);

  /// Goes on after so many steps. REQUIRES: next() was not called yet.
  void skip(std::size_t steps) { next_ = steps * shares_per_step(); }

 private:
  void look_ahead();
  /// The part of a global batch of so many images that is this shard's.
  data::Range share_of_shard(std::size_t step, std::size_t images, int shard) const;
  std::size_t shares_per_step() const { return static_cast<std::size_t>(shards_.count) * parts_; }
  std::size_t epoch_of(std::size_t step) const { return 1 + step / batches_per_epoch(); }

  data::Sampler sampler_;
  const sync::Shards shards_;
  const Mistake mistake_;
  const int loader_threads_;
  const std::size_t parts_;                    ///< of each shard's share
  std::size_t next_ = 0;                       ///< share, counted over the whole run
  std::map<std::size_t, Division> divisions_;  ///< by the step that they begin with
  data::Prefetcher prefetcher_;
};

}  // namespace lockstep::train
