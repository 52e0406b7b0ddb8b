// The loss: mean cross entropy, as torch defines it. With label smoothing, a fraction of the target
// is spread evenly over all classes. There are few values, so plain loops suffice.
#pragma once

#include "engine/engine.h"

#include <span>

namespace lockstep::internal::engine::onednn {

/// Scores a batch: `scores` has one row per image. Writes each row's softmax to `probabilities`.
/// REQUIRES: each label is from 0 to below classes.
Score cross_entropy(const float* scores, std::span<const std::int64_t> labels, std::size_t classes,
                    float* probabilities, double smoothing = 0);

/// The gradient of `factor` times the mean loss with respect to the scores.
void cross_entropy_gradient(const float* probabilities, std::span<const std::int64_t> labels,
                            std::size_t classes, double factor, float* gradient,
                            double smoothing = 0);

}  // namespace lockstep::internal::engine::onednn
