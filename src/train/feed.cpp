#include "train/feed.h"

#include <iterator>

namespace lockstep::train {

namespace {

/// Below this many bytes a batch is loaded faster than another thread is woken.
constexpr std::size_t kWorthAThread = 256 * 1024;

int threads_for(const data::Loader& loader, std::size_t batch, int shards) {
  const std::size_t images = batch / static_cast<std::size_t>(shards) + 1;
  return images * loader.shape().pixels() * sizeof(float) < kWorthAThread ? 0 : 1;
}

}  // namespace

Feed::Feed(const data::Loader& loader, const data::SamplerOptions& options,
           const sync::Shards& shards, Mistake mistake, int loader_threads, int parts)
    : sampler_(options),
      shards_(shards),
      mistake_(mistake),
      loader_threads_(loader_threads > 0 ? loader_threads
                                         : threads_for(loader, options.batch, shards.all * parts)),
      parts_(static_cast<std::size_t>(parts)),
      prefetcher_(loader, loader_threads_) {}

Feed::Share Feed::next() {
  look_ahead();
  const Share share{
      .epoch = epoch_of(done()), .global_batch = images_of(done()), .images = &prefetcher_.next()};
  ++next_;
  look_ahead();
  return share;
}

std::size_t Feed::divide(Division division) {
  const std::size_t asked = next_ + prefetcher_.ahead();
  const std::size_t step = (asked + shares_per_step() - 1) / shares_per_step();
  divisions_[step] = std::move(division);
  return step;
}

data::Range Feed::share_of_shard(std::size_t step, std::size_t images, int shard) const {
  const auto later = divisions_.upper_bound(step);
  if (later == divisions_.begin()) return data::share(images, shard, shards_.all);
  return share_of(std::prev(later)->second, images, shard);
}

void Feed::look_ahead() {
  // Every thread has one to load, and another is ready.
  while (prefetcher_.ahead() < static_cast<std::size_t>(loader_threads_) + 1) {
    const std::size_t number = next_ + prefetcher_.ahead();
    const std::size_t step = number / shares_per_step();
    const std::size_t epoch = epoch_of(step);
    const std::size_t order = mistake_ == Mistake::same_order ? 1 : epoch;
    const int mine = shards_.first + static_cast<int>(number % shares_per_step() / parts_);
    const int whose = mistake_ == Mistake::same_shard ? 0 : mine;
    const auto global = sampler_.batch(order, step % batches_per_epoch());
    const data::Range range = share_of_shard(step, global.size(), whose);
    const data::Range part =
        data::share(range.size(), static_cast<int>(number % parts_), static_cast<int>(parts_));
    prefetcher_.ask(global.subspan(range.begin + part.begin, part.size()), epoch);
  }
}

}  // namespace lockstep::train
