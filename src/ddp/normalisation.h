// The loops of batch norm, forward and backward, with the statistics of all ranks. Tensors are
// [N, channels, …], contiguous, float32 or float64; weight and bias have the same type.
#pragma once

#include "ddp/tensor_statistics.h"

namespace lockstep::internal::ddp {

/// (input − mean) · inverse deviation · weight + bias.
torch::Tensor normalise(const torch::Tensor& input, const Normalisation& normalisation,
                        const torch::Tensor& weight, const torch::Tensor& bias);

/// By channel: the sums of `gradient`, then those of `gradient` times the normalised input.
std::vector<double> gradient_sums(const torch::Tensor& gradient, const torch::Tensor& input,
                                  const Normalisation& normalisation);

/// The gradient of `input`, given the sums over all ranks.
torch::Tensor input_gradient(const torch::Tensor& gradient, const torch::Tensor& input,
                             const Normalisation& normalisation, const torch::Tensor& weight,
                             std::span<const double> sums);

}  // namespace lockstep::internal::ddp
