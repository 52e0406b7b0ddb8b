// Which images make up which batch, and which part of them is whose. Nothing here knows how many
// workers there are until share() is asked, so that every number of workers trains on the same
// global batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::data {

/// The positions begin … end − 1.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// The slice of `count` things that is `rank`'s: [rank × count / size, (rank + 1) × count / size).
/// The slices of all ranks, one after another, are the whole without gap or overlap, and differ in
/// size by one at most; with fewer things than ranks some are empty. Throws UsageError unless
/// 0 <= rank < size.
Range share(std::size_t count, int rank, int size);

struct SamplerOptions {
  /// Images in the set. Must be given.
  std::size_t count = 0;

  /// Images of a global batch, over all workers. Must be given. The last batch of an epoch has what
  /// is left.
  std::size_t batch = 0;

  /// Names the order of every epoch: equal seeds give equal orders on every machine.
  std::uint64_t seed = 5000;

  /// A new random order each epoch. Without it, batch k is images k × batch … (k + 1) × batch − 1
  /// in every epoch: for comparing runs with other programs image by image.
  bool shuffle = true;
};

/// The global batches of every epoch. Each call stands alone: a run that resumes asks for the batch
/// it stopped at. For one thread at a time.
class Sampler {
 public:
  /// Throws UsageError if there are no images, more than 2^32 − 1, or a batch holds none.
  explicit Sampler(const SamplerOptions& options);

  std::size_t batches_per_epoch() const;

  /// Images of one global batch: the last of an epoch may have fewer than the others.
  std::size_t size_of_batch(std::size_t index) const;

  /// The images of one global batch. Valid until batch() is called for another epoch.
  /// REQUIRES: index < batches_per_epoch().
  std::span<const std::uint32_t> batch(std::uint64_t epoch, std::size_t index);

 private:
  SamplerOptions options_;
  std::vector<std::uint32_t> order_;
  std::optional<std::uint64_t> order_epoch_;  // whose order that is, where epochs differ
};

}  // namespace lockstep::data
