// The loss: mean cross entropy of scores, as torch defines it. With smoothing, a share of an
// image's target is spread over all classes alike, and the rest is its label's. Few values, so
// plain loops.
#pragma once

#include "engine/engine.h"

#include <span>

namespace lockstep::engine::onednn {

/// What the scores of a batch, one row an image, say of its labels. Puts each row's probabilities
/// (its softmax) into `probabilities`. REQUIRES: each label is from 0 to below classes.
Score cross_entropy(const float* scores, std::span<const std::int64_t> labels, std::size_t classes,
                    float* probabilities, double smoothing = 0);

/// The gradient of `factor` times the mean loss by the scores.
void cross_entropy_gradient(const float* probabilities, std::span<const std::int64_t> labels,
                            std::size_t classes, double factor, float* gradient,
                            double smoothing = 0);

}  // namespace lockstep::engine::onednn
