#include "train/feed.h"

#include <iterator>

namespace lockstep::internal::train {

namespace {

/// Below this many bytes a batch is loaded faster than another thread is woken.
constexpr std::size_t kWorthAThread = 256 * 1024;

int threads_for(const data::Loader& loader, std::size_t batch, int shards) {
  const std::size_t images = batch / static_cast<std::size_t>(shards) + 1;
  return images * loader.shape().pixels() * sizeof(float) < kWorthAThread ? 0 : 1;
}

}  // namespace

Feed::Feed(const data::Loader& loader, const data::SamplerOptions& options,
           const sync::Shards& shards, int loader_threads, int parts)
    : sampler_(options),
      shards_(shards),
      loader_threads_(loader_threads > 0 ? loader_threads
                                         : threads_for(loader, options.batch, shards.all * parts)),
      parts_(static_cast<std::size_t>(parts)),
      prefetcher_(loader, loader_threads_) {}

MicroBatch Feed::next() {
  look_ahead();
  const MicroBatch batch{
      .epoch = epoch_of(done()), .global_batch = images_of(done()), .images = &prefetcher_.next()};
  ++next_;
  look_ahead();
  return batch;
}

std::size_t Feed::set_split(BatchSplit split) {
  const std::size_t asked = next_ + prefetcher_.ahead();
  const std::size_t step = (asked + batches_per_step() - 1) / batches_per_step();
  splits_[step] = std::move(split);
  return step;
}

data::Range Feed::slice_of(int shard, std::size_t step) const {
  const auto later = splits_.upper_bound(step);
  if (later == splits_.begin())
    return sampler_.slice(step % batches_per_epoch(), shard, shards_.all);
  return slice_of_worker(std::prev(later)->second, images_of(step), shard);
}

void Feed::look_ahead() {
  // One micro-batch for each loader thread, and one more that is ready.
  while (prefetcher_.ahead() < static_cast<std::size_t>(loader_threads_) + 1) {
    const std::size_t number = next_ + prefetcher_.ahead();
    const std::size_t step = number / batches_per_step();
    const std::size_t epoch = epoch_of(step);
    const int shard = shards_.first + static_cast<int>(number % batches_per_step() / parts_);
    const auto global = sampler_.batch(epoch, step % batches_per_epoch());
    const data::Range slice = slice_of(shard, step);
    const data::Range part =
        data::slice_of(slice.size(), static_cast<int>(number % parts_), static_cast<int>(parts_));
    prefetcher_.ask(global.subspan(slice.begin + part.begin, part.size()), epoch);
  }
}

}  // namespace lockstep::internal::train
