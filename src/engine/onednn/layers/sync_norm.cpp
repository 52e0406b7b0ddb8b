#include "engine/onednn/layers/sync_norm.h"

namespace lockstep::internal::engine::onednn {

SyncNorm::SyncNorm(const Layer& layer, std::size_t channels, const NormShape& shape)
    : group_(layer.group.value()),
      running_(layer.statistics),
      relu_(layer.then_relu),
      channels_(channels),
      shape_(shape),
      gradients_(2 * channels),
      sums_(2 * shape.channels()),
      parts_(kNormParts * sums_.size()),
      origin_(shape.channels()),
      scale_(origin_),
      shift_(origin_),
      of_gradient_(origin_),
      of_value_(origin_),
      gradient_shift_(origin_) {}

ddp::ChannelStatistics SyncNorm::statistics_of(const float* input) {
  ddp::ChannelStatistics statistics{static_cast<double>(shape_.samples * shape_.pixels),
                                    std::vector<double>(channels_), std::vector<double>(channels_)};
  if (shape_.samples == 0) return statistics;
  norm_kernels().deviation_sums(input, sums(), shape_);
  for (std::size_t i = 0; i < channels_; ++i) {
    const float first = input[i / shape_.block * shape_.plane() + i % shape_.block];
    statistics.set(i, first, sums_[i], sums_[shape_.channels() + i]);
  }
  return statistics;
}

void SyncNorm::keep_running(const ddp::ChannelStatistics& statistics) {
  const double momentum = running_.momentum;
  for (std::size_t i = 0; i < channels_; ++i) {
    const double variance = statistics.squares[i] / (statistics.count - 1);  // unbiased
    running_.mean[i] =
        static_cast<float>((1 - momentum) * running_.mean[i] + momentum * statistics.mean[i]);
    running_.variance[i] =
        static_cast<float>((1 - momentum) * running_.variance[i] + momentum * variance);
  }
  ++*running_.batches;
}

void SyncNorm::find_statistics(const float* input) {
  const ddp::ChannelStatistics statistics = ddp::exchange(group_, statistics_of(input));
  keep_running(statistics);
  normalisation_ = ddp::normalisation_of(statistics, running_.epsilon);
}

void SyncNorm::normalise(const float* input, const float* weight, const float* bias,
                         float* output) {
  for (std::size_t i = 0; i < channels_; ++i) {
    const ddp::ForwardTerms<float> terms(normalisation_, i, weight[i], bias[i]);
    origin_[i] = terms.origin;
    scale_[i] = terms.scale;
    shift_[i] = terms.shift;
  }
  norm_kernels().normalise(input, output, terms(), shape_);
}

void SyncNorm::differentiate_parameters(const float* input, const float* gradient, float* of_weight,
                                        float* of_bias) {
  norm_kernels().gradient_sums(input, gradient, terms(), sums(), shape_);
  for (std::size_t i = 0; i < channels_; ++i) {
    const double rest = ddp::SplitMean<float>(normalisation_.mean[i]).rest;
    const double products = sums_[shape_.channels() + i] - rest * sums_[i];
    gradients_[i] = sums_[i];
    gradients_[channels_ + i] = products * normalisation_.inverse_deviation[i];
    of_bias[i] = static_cast<float>(gradients_[i]);
    of_weight[i] = static_cast<float>(gradients_[channels_ + i]);
  }
}

void SyncNorm::differentiate_input(const float* input, const float* gradient, const float* weight,
                                   float* output) {
  group_.all_reduce(gradients_);
  for (std::size_t i = 0; i < channels_; ++i) {
    const ddp::BackwardTerms<float> terms(normalisation_, i, weight[i], gradients_[i],
                                          gradients_[channels_ + i]);
    of_gradient_[i] = terms.of_gradient;
    of_value_[i] = terms.of_value;
    gradient_shift_[i] = terms.shift;
  }
  norm_kernels().input_gradient(input, gradient, output, terms(),
                                {of_gradient_.data(), of_value_.data(), gradient_shift_.data()},
                                shape_);
}

}  // namespace lockstep::internal::engine::onednn
