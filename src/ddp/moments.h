// Batch norm over the batches of all ranks, channel by channel, whoever computes the sums: what a
// rank adds to the means and variances, their exchange, and the numbers to normalise by. No torch.
#pragma once

#include <lockstep/group.h>

#include <span>
#include <vector>

namespace lockstep::ddp {

/// How many values each channel has, their mean, and the sum of squared differences from it.
struct Moments {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  std::size_t channels() const { return mean.size(); }

  /// From the sums of a channel's differences from `origin` and of their squares. An origin that is
  /// one of the values is at most √count deviations from the mean, so that little cancels.
  void set(std::size_t channel, double origin, double sum, double sum_of_squares);
};

/// Those of several batches together, added in their order (Chan, Golub and LeVeque, 1979): exact
/// but for rounding, however far the means are apart. REQUIRES: equally many channels.
Moments combine(std::span<const Moments> parts);

/// Those of all ranks' batches together, the same to the bit on all ranks. One message. A
/// collective; throws Error on all ranks if there are less than two values a channel.
Moments exchange(Group& group, const Moments& mine);

/// What forward needs of the moments, and backward once more.
struct Normalisation {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> inverse_deviation;  ///< 1 / √(variance + eps)
};

Normalisation normalisation_of(const Moments& moments, double eps);

// Two numbers stand for a mean: its rounding to the type of the values, and the rest. The
// difference of a value and the first is exact, or nearly, where the mean is large beside the
// deviation, which one rounded number would spoil.
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

/// The gradients of a channel's values: gradient · of_gradient + (value − origin) · of_value +
/// shift, which is weight · inverse deviation · (gradient − its mean − normalised value · mean of
/// their product). Sums are those of all ranks' gradients, and of the gradients times the
/// normalised values.
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

}  // namespace lockstep::ddp
