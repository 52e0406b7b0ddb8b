// The moments of a tensor.
#pragma once

#include "ddp/moments.h"

#include <torch/torch.h>

namespace lockstep::ddp {

/// Of [N, channels, …], contiguous, float32 or float64. Sums are in float64.
Moments moments_of(const torch::Tensor& input);

}  // namespace lockstep::ddp
