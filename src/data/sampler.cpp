#include "data/sampler.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace lockstep::internal::data {

Range slice_of(std::size_t count, int rank, int size) {
  if (size < 1 || rank < 0 || rank >= size)
    throw UsageError(fmt::format(
        "rank {} of {} has no slice: ranks are numbered from 0 to size − 1", rank, size));
  const std::size_t ranks = static_cast<std::size_t>(size);
  // rank × count / size, in two steps so that no product overflows.
  const auto boundary = [&](std::size_t r) {
    return r * (count / ranks) + r * (count % ranks) / ranks;
  };
  const std::size_t r = static_cast<std::size_t>(rank);
  return {.begin = boundary(r), .end = boundary(r + 1)};
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (options.count == 0 || options.count > kMost)
    throw UsageError(fmt::format("cannot sample from {} images: the set must have 1 to {}",
                                 options.count, kMost));
  if (options.batch == 0)
    throw UsageError("the global batch has 0 images: use at least 1 (--batch)");
  if (!options.shuffle) {
    order_.resize(options.count);
    std::iota(order_.begin(), order_.end(), 0u);
  }
}

std::size_t Sampler::batches_per_epoch() const {
  return (options_.count - 1) / options_.batch + 1;
}

std::size_t Sampler::size_of_batch(std::size_t index) const {
  return std::min(options_.batch, options_.count - index * options_.batch);
}

std::span<const std::uint32_t> Sampler::batch(std::uint64_t epoch, std::size_t index) {
  LOCKSTEP_CHECK(index < batches_per_epoch(), "batch {} of an epoch of {}", index,
                 batches_per_epoch());
  if (!options_.reshuffle) epoch = 1;
  if (options_.shuffle && order_epoch_ != epoch) {
    order_ = permutation(static_cast<std::uint32_t>(options_.count), Random(options_.seed, epoch));
    order_epoch_ = epoch;
  }
  return std::span(order_).subspan(index * options_.batch, size_of_batch(index));
}

}  // namespace lockstep::internal::data
