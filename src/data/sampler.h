// Sampler: the images of each global batch, and the slice of it that a rank gets. Global batches do
// not depend on the number of workers, which enters only when a batch is sliced, unless each worker
// has a part of the images to itself (SamplerOptions::parts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::internal::data {

/// The positions begin … end − 1.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// The slice of `count` items for `rank`: [rank × count / size, (rank + 1) × count / size). The
/// slices of all ranks cover all items without gap or overlap, and their sizes differ by at most
/// one; with fewer items than ranks some are empty. Throws UsageError unless 0 <= rank < size.
Range slice_of(std::size_t count, int rank, int size);

/// The part of `count` items for `rank` as numpy.array_split cuts them: the first count % size
/// parts have one item more. REQUIRES: 0 <= rank < size.
Range part_of(std::size_t count, int rank, int size);

struct SamplerOptions {
  /// Number of images in the set. Required.
  std::size_t count = 0;

  /// Number of images in a global batch, over all workers. Required. The last batch of an epoch has
  /// the remaining images.
  std::size_t batch = 0;

  /// Seed of the shuffling: equal seeds give equal orders on every machine.
  std::uint64_t seed = 5000;

  /// Shuffle again in each epoch. Without it, batch k is images k × batch … (k + 1) × batch − 1 in
  /// every epoch, for comparing runs with other programs image by image.
  bool shuffle = true;

  /// Each epoch has a new random order. Without it every epoch has the order of the
  /// first: the mistake of a DistributedSampler whose set_epoch is never called.
  bool reshuffle = true;

  /// 0: a batch is drawn from all images. Else the number of workers, each with its own contiguous
  /// part of the images (see part_of), from which all its images come in all epochs. Shuffling
  /// stays within a part. The workers are dealt a batch in turn: image i of an epoch, counted from
  /// 0, is the next of worker i % parts. So batches are full, every image is used once per epoch,
  /// and the images of two workers in a batch differ by at most one.
  int parts = 0;
};

/// The global batches of every epoch. Calls are independent: a resumed run asks for the batch at
/// which it stopped. Thread safety: one thread at a time.
class Sampler {
 public:
  /// Throws UsageError if there are no images, more than 2^32 − 1, or a batch of 0.
  explicit Sampler(const SamplerOptions& options);

  std::size_t batches_per_epoch() const;

  /// Number of images in a global batch: the last of an epoch may have fewer.
  std::size_t size_of_batch(std::size_t index) const;

  /// The slice of a global batch for `rank`, as positions in it. REQUIRES: size is the number of
  /// parts, if there are parts.
  Range slice(std::size_t index, int rank, int size) const;

  /// The images of one global batch. Valid until batch() is called for another epoch.
  /// REQUIRES: index < batches_per_epoch().
  std::span<const std::uint32_t> batch(std::uint64_t epoch, std::size_t index);

 private:
  std::vector<std::uint32_t> order_of(std::uint64_t epoch) const;
  std::vector<std::uint32_t> part_order(int part, std::uint64_t epoch) const;

  SamplerOptions options_;
  std::vector<std::uint32_t> order_;
  std::optional<std::uint64_t> order_epoch_;  // the epoch of `order_`, if epochs differ
};

}  // namespace lockstep::internal::data
