// Batch norm over the batches of all ranks, by channel, for any code that computes the sums: a
// rank's statistics, their exchange, and the numbers to normalise by. Without torch.
#pragma once

#include <lockstep/group.h>

#include <span>
#include <vector>

namespace lockstep::internal::ddp {

/// By channel: the number of values, their mean, and the sum of squared differences from it.
struct ChannelStatistics {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  std::size_t channels() const { return mean.size(); }

  /// Sets a channel from the sums of its values' differences from `origin` and of their squares. An
  /// origin among the values is at most √count deviations from the mean, so little precision is
  /// lost.
  void set(std::size_t channel, double origin, double sum, double sum_of_squares);
};

/// The statistics of several batches together, added in order (Chan, Golub and LeVeque, 1979):
/// exact up to rounding, for any distance of the means. REQUIRES: equal numbers of channels.
ChannelStatistics combine(std::span<const ChannelStatistics> parts);

/// The statistics of all ranks' batches together, the same to the bit on all ranks. One message. A
/// collective; throws Error on all ranks if there are fewer than two values per channel.
ChannelStatistics exchange(Group& group, const ChannelStatistics& mine);

/// The numbers for forward and backward.
struct Normalisation {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> inverse_deviation;  ///< 1 / √(variance + eps)
};

Normalisation normalisation_of(const ChannelStatistics& statistics, double eps);

// A mean is stored as two numbers: its rounding to the type of the values, and the rest. The
// difference of a value and the first is (nearly) exact if the mean is large compared with the
// deviation; with a single rounded number it would not be.
template <typename T>
struct SplitMean {
  explicit SplitMean(double mean) : high(static_cast<T>(mean)), rest(mean - high) {}
  T high;
  double rest;
};

/// A channel's normalised values: (value − origin) · scale + shift.
template <typename T>
struct ForwardTerms {
  ForwardTerms(const Normalisation& normalisation, std::size_t channel, double weight,
               double bias) {
    const SplitMean<T> mean(normalisation.mean[channel]);
    const double exact = normalisation.inverse_deviation[channel] * weight;
    origin = mean.high;
    scale = static_cast<T>(exact);
    shift = static_cast<T>(bias - mean.rest * exact);
  }
  T origin, scale, shift;
};

/// The input gradients of a channel: gradient · of_gradient + (value − origin) · of_value + shift,
/// which is weight · inverse deviation · (gradient − its mean − normalised value · mean of their
/// product). Sums are over all ranks: of the gradients, and of the gradients times the normalised
/// values.
template <typename T>
struct BackwardTerms {
  BackwardTerms(const Normalisation& normalisation, std::size_t channel, double weight,
                double sum_of_gradients, double sum_of_products) {
    const SplitMean<T> mean(normalisation.mean[channel]);
    const double inverse = normalisation.inverse_deviation[channel];
    const double exact = weight * inverse;
    const double slope = -exact * inverse * sum_of_products / normalisation.count;
    origin = mean.high;
    of_gradient = static_cast<T>(exact);
    of_value = static_cast<T>(slope);
    shift = static_cast<T>(-exact * sum_of_gradients / normalisation.count - slope * mean.rest);
  }
  T origin, of_gradient, of_value, shift;
};

}  // namespace lockstep::internal::ddp
