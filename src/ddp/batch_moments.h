// What a rank's batch adds to the means and variances of all ranks' batches, channel by channel.
#pragma once

#include <torch/torch.h>

#include <span>
#include <vector>

namespace lockstep::ddp {

/// How many values each channel has, their mean, and the sum of squared differences from it.
struct Moments {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  std::size_t channels() const { return mean.size(); }
};

/// Of [N, channels, …], contiguous, float32 or float64. Sums are in float64.
Moments moments_of(const torch::Tensor& input);

/// Those of several batches together, added in their order (Chan, Golub and LeVeque, 1979): exact
/// but for rounding, however far the means are apart. REQUIRES: equally many channels.
Moments combine(std::span<const Moments> parts);

}  // namespace lockstep::ddp
