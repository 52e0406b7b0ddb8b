#include <lockstep/error.h>
#include <lockstep/sampler.h>

#include "data/sampler.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

using namespace internal;

struct DistributedSampler::State {
  State(std::size_t count, int rank, int ranks, const DistributedSamplerOptions& options)
      : rank(rank), ranks(ranks), options(options), order(make_order(count)), count(count) {
    if (samples_from(0) == 0)
      throw UsageError(fmt::format(
          "{} samples are too few for {} ranks: use fewer ranks, or do not drop the last samples",
          count, ranks));
  }

  data::Sampler make_order(std::size_t count) const {
    return data::Sampler({.count = count,
                          .batch = std::max<std::size_t>(count, 1),
                          .seed = options.seed,
                          .shuffle = options.shuffle});
  }

  /// Samples of all ranks from `begin` to the epoch's end.
  std::size_t samples_from(std::size_t begin) const {
    const auto all = static_cast<std::size_t>(ranks);
    const std::size_t left = begin < count ? count - begin : 0;
    if (options.remainder == Remainder::uneven) return left;
    return (options.remainder == Remainder::drop ? left : left + all - 1) / all * all;
  }

  void go_to(std::uint64_t new_epoch, std::size_t new_place) {
    epoch = new_epoch;
    place = new_place;
    end = new_place + samples_from(new_place);
    drawn = false;
  }

  int rank;
  int ranks;
  DistributedSamplerOptions options;
  data::Sampler order;
  std::size_t count;
  std::uint64_t epoch = 0;
  std::size_t place = 0;  ///< samples that all ranks together have drawn in this epoch
  std::size_t end = 0;    ///< number of samples in the epoch, with those that come twice
  bool drawn = false;     ///< whether samples were drawn since the epoch began here
};

DistributedSampler::DistributedSampler(std::size_t count, const Group& group,
                                       const DistributedSamplerOptions& options)
    : state_(std::make_shared<State>(count, group.rank(), group.size(), options)) {
  state_->go_to(0, 0);
}

DistributedSampler::~DistributedSampler() = default;
DistributedSampler::DistributedSampler(const DistributedSampler&) = default;
DistributedSampler& DistributedSampler::operator=(const DistributedSampler&) = default;
DistributedSampler::DistributedSampler(DistributedSampler&&) noexcept = default;
DistributedSampler& DistributedSampler::operator=(DistributedSampler&&) noexcept = default;

void DistributedSampler::reset(torch::optional<std::size_t> new_size) {
  State& state = *state_;
  const std::uint64_t epoch = state.drawn ? state.epoch + 1 : state.epoch;
  if (new_size && *new_size != state.count) {
    state = State(*new_size, state.rank, state.ranks, state.options);
    state.go_to(epoch, 0);
  } else if (state.drawn) {
    state.go_to(epoch, 0);
  }
}

torch::optional<std::vector<std::size_t>> DistributedSampler::next(std::size_t batch_size) {
  if (batch_size == 0) throw UsageError("a batch has 0 samples: use at least 1");
  State& state = *state_;
  state.drawn = true;
  if (state.place >= state.end) return torch::nullopt;
  const std::size_t left = state.end - state.place;
  const auto ranks = static_cast<std::size_t>(state.ranks);
  const std::size_t all = batch_size > left / ranks ? left : batch_size * ranks;
  const data::Range mine = data::slice_of(all, state.rank, state.ranks);
  const auto order = state.order.batch(state.epoch, 0);
  std::vector<std::size_t> indices;
  for (std::size_t i = mine.begin; i < mine.end; ++i)
    indices.push_back(order[(state.place + i) % order.size()]);
  state.place += all;
  if (indices.empty()) return torch::nullopt;
  return indices;
}

std::size_t DistributedSampler::size() const {
  return data::slice_of(state_->samples_from(0), state_->rank, state_->ranks).size();
}

std::uint64_t DistributedSampler::epoch() const {
  return state_->epoch;
}

namespace {

std::int64_t read(torch::serialize::InputArchive& archive, const char* name) {
  torch::IValue value;
  if (!archive.try_read(name, value) || !value.isInt())
    throw Error(fmt::format("the archive has no number '{}': it was not saved by a sampler", name));
  return value.toInt();
}

void require_same(const char* what, std::int64_t saved, std::int64_t here) {
  if (saved != here)
    throw Error(fmt::format(
        "the saved order has {} {}, but here it is {}: construct the sampler with the same options",
        what, saved, here));
}

}  // namespace

void DistributedSampler::save(torch::serialize::OutputArchive& archive) const {
  const auto write = [&](const char* name, std::uint64_t value) {
    archive.write(name, torch::IValue(static_cast<std::int64_t>(value)));
  };
  write("count", state_->count);
  write("seed", state_->options.seed);
  write("shuffle", state_->options.shuffle ? 1 : 0);
  write("epoch", state_->epoch);
  write("place", std::min(state_->place, state_->count));
}

void DistributedSampler::load(torch::serialize::InputArchive& archive) {
  State& state = *state_;
  require_same("count", read(archive, "count"), static_cast<std::int64_t>(state.count));
  require_same("seed", read(archive, "seed"), static_cast<std::int64_t>(state.options.seed));
  require_same("shuffle", read(archive, "shuffle"), state.options.shuffle ? 1 : 0);
  const std::int64_t epoch = read(archive, "epoch");
  const std::int64_t place = read(archive, "place");
  if (epoch < 0 || place < 0 || static_cast<std::size_t>(place) > state.count)
    throw Error(fmt::format("the archive's position is sample {} of {} in epoch {}: it is damaged",
                            place, state.count, epoch));
  state.go_to(static_cast<std::uint64_t>(epoch), static_cast<std::size_t>(place));
  if (state.place == state.end) state.go_to(state.epoch + 1, 0);  // saved at the end of an epoch
}

}  // namespace lockstep
