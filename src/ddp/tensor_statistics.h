// The channel statistics of a tensor.
#pragma once

#include "ddp/channel_statistics.h"

#include <torch/torch.h>

namespace lockstep::internal::ddp {

/// `input` is [N, channels, …], contiguous, float32 or float64. Sums are in float64.
ChannelStatistics statistics_of(const torch::Tensor& input);

}  // namespace lockstep::internal::ddp
