// The loss: mean cross entropy of scores, as torch defines it. Few values, so plain loops.
#pragma once

#include "engine/engine.h"

#include <span>

namespace lockstep::engine::onednn {

/// What the scores of a batch, one row an image, say of its labels. Puts each row's probabilities
/// (its softmax) into `probabilities`. REQUIRES: each label is from 0 to below classes.
Score cross_entropy(const float* scores, std::span<const std::int64_t> labels, std::size_t classes,
                    float* probabilities);

/// The gradient of `factor` times the mean loss by the scores.
void cross_entropy_gradient(const float* probabilities, std::span<const std::int64_t> labels,
                            std::size_t classes, double factor, float* gradient);

}  // namespace lockstep::engine::onednn
