// Compressor: how the gradients of a bucket are averaged with fewer bytes. A hook calls it on a
// thread of its own, one bucket after another in their order, so that backward need not wait and
// several collectives a bucket come in one order on all ranks.
#pragma once

#include <lockstep/bucket_hook.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace lockstep::sync {

class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Replaces the bucket's gradients by what all ranks are to have. A collective. Gradients are
  /// floating-point numbers of any type.
  virtual void reduce(Group& group, const GradientBucket& bucket) = 0;
};

/// The hook that uses what `make` makes, a new one for every wrapper that it serves; one at a time.
/// Copies are the same hook.
BucketHook make_hook(std::function<std::unique_ptr<Compressor>()> make);

/// The bucket's parameters; the whole bucket as one where they are not known.
std::vector<GradientPart> parts_of(const GradientBucket& bucket);

/// Whether two buckets have the same parameters in the same places.
bool same_places(std::span<const GradientPart> one, std::span<const GradientPart> other);

/// to[i] = gradients[i], of whatever floating type they are; and the reverse.
void load(const ArrayView& gradients, std::span<float> to);
void store(std::span<const float> values, const ArrayView& gradients);

std::unique_ptr<Compressor> make_cast(DataType type);
std::unique_ptr<Compressor> make_top_k(double share);
std::unique_ptr<Compressor> make_sign();
std::unique_ptr<Compressor> make_power_sgd(int rank);

}  // namespace lockstep::sync
