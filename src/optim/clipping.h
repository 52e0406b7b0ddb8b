// Clipping: keeps a few wild images from throwing the weights far off. For gradients that are those
// of the whole global batch, the same on all ranks: then all ranks clip alike without a word.
#pragma once

#include "optim/tensor_range.h"

#include <span>

namespace lockstep::optim {

/// The Euclidean norm over all tensors: each tensor's squares are added in double in an order that
/// neither buckets nor threads change, then the tensors' sums in the order in which they are given.
template <typename T>
double global_norm(std::span<const T> gradients, std::span<const TensorRange> tensors);

/// Where that norm is above `limit`, scales all to make it `limit`. Returns what it was.
/// REQUIRES: limit > 0.
template <typename T>
double clip_norm(std::span<T> gradients, std::span<const TensorRange> tensors, double limit);

/// Brings each element into [−limit, limit]. What is not a number stays so. REQUIRES: limit > 0.
template <typename T>
void clip_values(std::span<T> gradients, double limit);

}  // namespace lockstep::optim
