// Feed: one rank's images of a run, step after step. The line from sampler to loader: which images
// a global batch has, which of them are this rank's, loaded before they are needed.
#pragma once

#include "data/prefetcher.h"
#include "data/sampler.h"
#include "train/mistake.h"

#include <cstddef>

namespace lockstep::train {

class Feed {
 public:
  /// A rank's share of one global batch.
  struct Share {
    std::size_t epoch = 0;         ///< from 1
    std::size_t global_batch = 0;  ///< images of all ranks
    const data::Batch* images = nullptr;
  };

  /// The loader must outlive it. So many threads load ahead; 0 for one, or none where batches are
  /// small.
  Feed(const data::Loader& loader, const data::SamplerOptions& options, int rank, int size,
       Mistake mistake = Mistake::none, int loader_threads = 0);

  std::size_t batches_per_epoch() const { return sampler_.batches_per_epoch(); }

  /// 0 if the caller of next() loads them itself.
  int loader_threads() const { return loader_threads_; }

  /// Steps given so far, those that were skipped included.
  std::size_t done() const { return next_; }

  /// The next step's; valid until the step after it is asked for.
  Share next();

  /// Goes on after so many steps. REQUIRES: next() was not called yet.
  void skip(std::size_t steps) { next_ = steps; }

 private:
  void look_ahead();
  std::size_t epoch_of(std::size_t step) const { return 1 + step / batches_per_epoch(); }

  data::Sampler sampler_;
  const int rank_;
  const int size_;
  const Mistake mistake_;
  const int loader_threads_;
  std::size_t next_ = 0;  ///< step, counted over the whole run
  data::Prefetcher prefetcher_;
};

}  // namespace lockstep::train
