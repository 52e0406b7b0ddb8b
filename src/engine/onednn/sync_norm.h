// SyncNorm: batch norm over the batches of all ranks of a group, of one layer and one size of this
// rank's batch: what its steps share. A step forward and one backward send a message each; all
// ranks run all of them, also those without images.
#pragma once

#include "ddp/moments.h"
#include "engine/onednn/network.h"
#include "engine/onednn/norm_kernels.h"

#include <vector>

namespace lockstep::engine::onednn {

class SyncNorm {
 public:
  /// Of a layer with `channels` channels, and a group. A shape without samples has no maps: null
  /// will do for them below.
  SyncNorm(const Layer& layer, std::size_t channels, const NormShape& shape);

  /// The statistics of all ranks' batches, for those that follow; the running ones take them in. A
  /// collective.
  void find_statistics(const float* input);

  void normalise(const float* input, const float* weight, const float* bias, float* output);

  /// This rank's part of the parameters' gradients: averaging over the ranks adds them up.
  void differentiate_parameters(const float* input, const float* gradient, float* of_weight,
                                float* of_bias);

  /// After it, and with the weights of forward. A collective.
  void differentiate_input(const float* input, const float* gradient, const float* weight,
                           float* output);

 private:
  /// A number a channel, and zeros for those that only fill up a block.
  using Channels = std::vector<float>;

  ddp::Moments moments_of(const float* input);
  void keep_running(const ddp::Moments& moments);
  NormSums sums() { return {sums_.data(), parts_.data()}; }
  NormTerms terms() const { return {origin_.data(), scale_.data(), shift_.data(), relu_}; }

  Group group_;
  const Statistics running_;
  const bool relu_;
  const std::size_t channels_;
  const NormShape shape_;
  ddp::Normalisation normalisation_;  ///< of the last batch
  std::vector<double> gradients_;     ///< the sums of this rank, as they are sent
  std::vector<double> sums_, parts_;
  Channels origin_, scale_, shift_;
  Channels of_gradient_, of_value_, gradient_shift_;
};

}  // namespace lockstep::engine::onednn
