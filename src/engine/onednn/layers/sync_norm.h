// SyncNorm: the common state of the steps of a batch norm over all ranks of a group, for one layer
// and one batch size of this rank. A forward and a backward step send one message each; all ranks
// run all steps, also those without images.
#pragma once

#include "ddp/channel_statistics.h"
#include "engine/onednn/kernels/norm_kernels.h"
#include "engine/onednn/plan/layer_graph.h"

#include <vector>

namespace lockstep::internal::engine::onednn {

class SyncNorm {
 public:
  /// REQUIRES: the layer has `channels` channels and a group. With a shape without samples, null is
  /// allowed for all maps below.
  SyncNorm(const Layer& layer, std::size_t channels, const NormShape& shape);

  /// Computes the statistics of all ranks' batches for the steps that follow, and updates the
  /// running ones. A collective.
  void find_statistics(const float* input);

  void normalise(const float* input, const float* weight, const float* bias, float* output);

  /// This rank's part of the parameters' gradients, which averaging over the ranks completes.
  void differentiate_parameters(const float* input, const float* gradient, float* of_weight,
                                float* of_bias);

  /// REQUIRES: called after differentiate_parameters(), with the weights of forward. A collective.
  void differentiate_input(const float* input, const float* gradient, const float* weight,
                           float* output);

 private:
  /// One number per channel, and zeros for the padding of a block.
  using Channels = std::vector<float>;

  ddp::ChannelStatistics statistics_of(const float* input);
  void keep_running(const ddp::ChannelStatistics& statistics);
  NormSums sums() { return {sums_.data(), parts_.data()}; }
  NormTerms terms() const { return {origin_.data(), scale_.data(), shift_.data(), relu_}; }

  Group group_;
  const RunningStatistics running_;
  const bool relu_;
  const std::size_t channels_;
  const NormShape shape_;
  ddp::Normalisation normalisation_;  ///< of the last batch
  std::vector<double> gradients_;     ///< the sums of this rank, as sent
  std::vector<double> sums_, parts_;
  Channels origin_, scale_, shift_;
  Channels of_gradient_, of_value_, gradient_shift_;
};

}  // namespace lockstep::internal::engine::onednn
