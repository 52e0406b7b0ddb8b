// Residuals: what compressors with error feedback have not sent yet, by parameter.
#pragma once

#include "sync/compressor.h"

#include <map>

namespace lockstep::sync {

/// Whether a step was any good is known only when the next one begins: its result may have been
/// discarded (GradientPart::discarded), or what it left may not be finite. So there are two of
/// everything: what was kept before the step, and what the step left.
class Residuals {
 public:
  /// Begins a step: what was kept, with the bucket's gradients added; gaps are zeros. The caller
  /// subtracts what it sends, and leaves the rest there.
  std::vector<float>& with_gradients(const GradientBucket& bucket);

 private:
  struct Rest {
    std::vector<float> kept;  ///< before the last step; finite
    std::vector<float> left;  ///< by the last step
  };
  struct Bucket : Rest {
    std::vector<GradientPart> parts;
  };

  /// The bucket's, where parameters lie now.
  Bucket& place(const GradientBucket& bucket);
  /// Sets the parts of this bucket aside, and those of all buckets that had one of `parts` before.
  void take_apart(std::size_t number, std::span<const GradientPart> parts);

  std::map<std::size_t, Bucket> by_number_;
  std::map<std::size_t, Rest> moving_;  ///< by parameter, until its new bucket comes
};

}  // namespace lockstep::sync
