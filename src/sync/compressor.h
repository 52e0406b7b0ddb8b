// Compressor: how the gradients of a bucket are averaged with fewer bytes. A hook calls it on a
// thread of its own, one bucket after another in their order, so that backward need not wait and
// several collectives a bucket come in one order on all ranks.
#pragma once

#include <lockstep/bucket_hook.h>

#include <map>
#include <memory>
#include <vector>

namespace lockstep::sync {

class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Replaces the bucket's gradients by what all ranks are to have. A collective.
  virtual void reduce(Group& group, const GradientBucket& bucket) = 0;
};

/// The hook that uses it; copies share it.
BucketHook make_hook(std::unique_ptr<Compressor> compressor);

/// The bucket's parameters; the whole bucket as one where they are not known.
std::vector<GradientPart> parts_of(const GradientBucket& bucket);

/// values[i] += gradients[i]. Gradients are float32 or float64.
void add_to(std::vector<float>& values, const ArrayView& gradients);
/// The reverse: gradients[i] = values[i].
void store(const std::vector<float>& values, const ArrayView& gradients);

/// What was not sent yet, by bucket.
class Residuals {
 public:
  /// Zeros for a bucket that is new or has changed its length.
  std::vector<float>& of(const GradientBucket& bucket) {
    std::vector<float>& residual = by_number_[bucket.number];
    if (residual.size() != bucket.gradients.count) residual.assign(bucket.gradients.count, 0);
    return residual;
  }

  /// The same with this step's gradients added.
  std::vector<float>& with_gradients(const GradientBucket& bucket) {
    std::vector<float>& values = of(bucket);
    add_to(values, bucket.gradients);
    return values;
  }

 private:
  std::map<std::size_t, std::vector<float>> by_number_;
};

std::unique_ptr<Compressor> make_cast(DataType type);
std::unique_ptr<Compressor> make_top_k(double share);
std::unique_ptr<Compressor> make_sign();
std::unique_ptr<Compressor> make_power_sgd(int rank);

}  // namespace lockstep::sync
