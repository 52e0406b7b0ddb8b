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

Range part_of(std::size_t count, int rank, int size) {
  const auto r = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(size);
  const auto boundary = [&](std::size_t part) {
    return part * (count / ranks) + std::min(part, count % ranks);
  };
  return {.begin = boundary(r), .end = boundary(r + 1)};
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (options.count == 0 || options.count > kMost)
    throw UsageError(fmt::format("cannot sample from {} images: the set must have 1 to {}",
                                 options.count, kMost));
  if (options.batch == 0)
    throw UsageError("the global batch has 0 images: use at least 1 (--batch)");
  if (!options.shuffle) order_ = order_of(1);
}

std::size_t Sampler::batches_per_epoch() const {
  return (options_.count - 1) / options_.batch + 1;
}

std::size_t Sampler::size_of_batch(std::size_t index) const {
  return std::min(options_.batch, options_.count - index * options_.batch);
}

Range Sampler::slice(std::size_t index, int rank, int size) const {
  const std::size_t count = size_of_batch(index);
  if (options_.parts == 0) return slice_of(count, rank, size);
  const auto parts = static_cast<std::size_t>(options_.parts);
  const std::size_t begin = index * options_.batch;
  // The images of the first workers in the batch: positions whose remainder is below `workers`.
  const auto of_first = [&](std::size_t workers) {
    const auto before = [&](std::size_t position) {
      return position / parts * workers + std::min(position % parts, workers);
    };
    return before(begin + count) - before(begin);
  };
  const auto worker = static_cast<std::size_t>(rank);
  return {.begin = of_first(worker), .end = of_first(worker + 1)};
}

std::vector<std::uint32_t> Sampler::part_order(int part, std::uint64_t epoch) const {
  const Range range = part_of(options_.count, part, std::max(1, options_.parts));
  std::vector<std::uint32_t> order(range.size());
  std::iota(order.begin(), order.end(), 0u);
  if (options_.shuffle)
    order = permutation(static_cast<std::uint32_t>(range.size()),
                        Random(options_.seed, epoch, static_cast<std::uint64_t>(part)));
  for (std::uint32_t& image : order) image += static_cast<std::uint32_t>(range.begin);
  return order;
}

std::vector<std::uint32_t> Sampler::order_of(std::uint64_t epoch) const {
  if (options_.parts <= 1) return part_order(0, epoch);
  std::vector<std::vector<std::uint32_t>> parts;
  for (int part = 0; part < options_.parts; ++part) parts.push_back(part_order(part, epoch));
  std::vector<std::size_t> used(parts.size());
  std::vector<std::uint32_t> order;
  order.reserve(options_.count);
  for (std::size_t index = 0; index < batches_per_epoch(); ++index)
    for (std::size_t part = 0; part < parts.size(); ++part)
      for (std::size_t left = slice(index, static_cast<int>(part), options_.parts).size(); left > 0;
           --left)
        order.push_back(parts[part][used[part]++]);
  return order;
}

std::span<const std::uint32_t> Sampler::batch(std::uint64_t epoch, std::size_t index) {
  LOCKSTEP_CHECK(index < batches_per_epoch(), "batch {} of an epoch of {}", index,
                 batches_per_epoch());
  if (!options_.reshuffle) epoch = 1;
  if (options_.shuffle && order_epoch_ != epoch) {
    order_ = order_of(epoch);
    order_epoch_ = epoch;
  }
  return std::span(order_).subspan(index * options_.batch, size_of_batch(index));
}

}  // namespace lockstep::internal::data
