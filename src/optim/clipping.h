// Clipping: limits large gradients, so that a few unusual images do not change the weights too
// much. The gradients must be those of the whole global batch, the same on all ranks: then all
// ranks clip the same way without communication.
#pragma once

#include "optim/tensor_range.h"

#include <span>

namespace lockstep::internal::optim {

/// The Euclidean norm over all tensors: each tensor's squares are added in double in an order that
/// neither buckets nor threads change, then the tensors' sums in the order in which they are given.
template <typename T>
double global_norm(std::span<const T> gradients, std::span<const TensorRange> tensors);

/// Scales all gradients so that their norm is at most `limit`. Returns the norm before scaling.
/// REQUIRES: limit > 0.
template <typename T>
double clip_norm(std::span<T> gradients, std::span<const TensorRange> tensors, double limit);

/// Limits each element to [−limit, limit]. NaN stays NaN. REQUIRES: limit > 0.
template <typename T>
void clip_values(std::span<T> gradients, double limit);

}  // namespace lockstep::internal::optim
