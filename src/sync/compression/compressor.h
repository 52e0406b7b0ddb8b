// Compressor: averages the gradients of a bucket with fewer bytes. A hook calls it on a separate
// thread, one bucket after another. Backward therefore does not wait, and the collectives of all
// buckets have the same order on every rank.
#pragma once

#include <lockstep/bucket_hook.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace lockstep::internal::sync {

class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Replaces the bucket's gradients by the average, the same on all ranks. A collective. Gradients
  /// may be of any floating-point type.
  virtual void reduce(Group& group, const GradientBucket& bucket) = 0;
};

/// A hook that calls a compressor made by `make`, one for each wrapper that it serves. It can serve
/// one wrapper at a time. Copies refer to the same hook.
BucketHook make_hook(std::function<std::unique_ptr<Compressor>()> make);

/// The bucket's parameters, or the whole bucket as one part if they are not known.
std::vector<GradientPart> parts_of(const GradientBucket& bucket);

/// Whether two buckets have the same parameters at the same positions.
bool same_places(std::span<const GradientPart> one, std::span<const GradientPart> other);

/// Converts gradients of any floating-point type to float; store() converts back.
void load(const ArrayView& gradients, std::span<float> to);
void store(std::span<const float> values, const ArrayView& gradients);

std::unique_ptr<Compressor> make_cast(DataType type);
std::unique_ptr<Compressor> make_top_k(double fraction);
std::unique_ptr<Compressor> make_sign();
std::unique_ptr<Compressor> make_power_sgd(int rank);

}  // namespace lockstep::internal::sync
