// Residuals: gradients that compressors with error feedback have not sent yet, by parameter.
#pragma once

#include "sync/compression/compressor.h"

#include <map>

namespace lockstep::internal::sync {

/// Whether a step counts is known only when the next one begins: its result may have been discarded
/// (GradientPart::discarded), or its residual may not be finite. Every residual is therefore stored
/// twice: before the last step and after it.
class Residuals {
 public:
  /// Begins a step. Returns the residual with the bucket's gradients added; gaps are zeros. The
  /// caller subtracts the values that it sends and leaves the rest there.
  std::vector<float>& with_gradients(const GradientBucket& bucket);

 private:
  struct Rest {
    std::vector<float> kept;  ///< before the last step; finite
    std::vector<float> left;  ///< after the last step
  };
  struct Bucket : Rest {
    std::vector<GradientPart> parts;
  };

  /// The residual of the bucket, in its present layout.
  Bucket& place(const GradientBucket& bucket);
  /// Moves the parts of this bucket, and of all buckets that had one of `parts`, to `moving_`.
  void take_apart(std::size_t number, std::span<const GradientPart> parts);

  std::map<std::size_t, Bucket> by_number_;
  std::map<std::size_t, Rest> moving_;  ///< by parameter, until its new bucket is reduced
};

}  // namespace lockstep::internal::sync
