#include "ddp/normalisation.h"

#include "ddp/channel_rows.h"

#include <cmath>

namespace lockstep::ddp {

namespace {

/// Means in two parts, as the header says.
template <typename T>
struct SplitMean {
  explicit SplitMean(double mean) : high(static_cast<T>(mean)), rest(mean - high) {}
  T high;
  double rest;
};

double element(const torch::Tensor& vector, std::size_t i) {
  return vector.scalar_type() == torch::kFloat32 ? vector.data_ptr<float>()[i]
                                                 : vector.data_ptr<double>()[i];
}

template <typename T>
void normalise_in(const torch::Tensor& input, const Normalisation& normalisation,
                  const torch::Tensor& weight, const torch::Tensor& bias, torch::Tensor& output) {
  const ChannelRows shape(input);
  const T* from = input.data_ptr<T>();
  T* to = output.data_ptr<T>();
  for_each_row(shape, [&](std::size_t channel, std::int64_t begin) {
    const SplitMean<T> mean(normalisation.mean[channel]);
    const double exact = normalisation.inverse_deviation[channel] * element(weight, channel);
    const T scale = static_cast<T>(exact);
    const T shift = static_cast<T>(element(bias, channel) - mean.rest * exact);
    for (std::int64_t i = begin; i < begin + shape.row; ++i)
      to[i] = (from[i] - mean.high) * scale + shift;
  });
}

template <typename T>
std::vector<double> gradient_sums_in(const torch::Tensor& gradient, const torch::Tensor& input,
                                     const Normalisation& normalisation) {
  const ChannelRows shape(input);
  const T* gradients = gradient.data_ptr<T>();
  const T* values = input.data_ptr<T>();
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::vector<double> sums(2 * channels);
  for_each_row(shape, [&](std::size_t channel, std::int64_t begin) {
    const SplitMean<T> mean(normalisation.mean[channel]);
    const Pair sum = sums_over_row(shape.row, [&](std::int64_t i) {
      const double its = gradients[begin + i];
      return Pair{its, its * (values[begin + i] - mean.high)};
    });
    sums[channel] += sum.first;
    sums[channels + channel] +=
        (sum.second - mean.rest * sum.first) * normalisation.inverse_deviation[channel];
  });
  return sums;
}

template <typename T>
void input_gradient_in(const torch::Tensor& gradient, const torch::Tensor& input,
                       const Normalisation& normalisation, const torch::Tensor& weight,
                       std::span<const double> sums, torch::Tensor& result) {
  const ChannelRows shape(input);
  const T* gradients = gradient.data_ptr<T>();
  const T* values = input.data_ptr<T>();
  T* to = result.data_ptr<T>();
  const auto channels = static_cast<std::size_t>(shape.channels);
  // weight · inverse deviation · (gradient − its mean − normalised input · mean of their product)
  for_each_row(shape, [&](std::size_t channel, std::int64_t begin) {
    const SplitMean<T> mean(normalisation.mean[channel]);
    const double inverse = normalisation.inverse_deviation[channel];
    const double exact = element(weight, channel) * inverse;
    const double slope = -exact * inverse * sums[channels + channel] / normalisation.count;
    const T of_gradient = static_cast<T>(exact);
    const T of_value = static_cast<T>(slope);
    const T shift =
        static_cast<T>(-exact * sums[channel] / normalisation.count - slope * mean.rest);
    for (std::int64_t i = begin; i < begin + shape.row; ++i)
      to[i] = gradients[i] * of_gradient + (values[i] - mean.high) * of_value + shift;
  });
}

}  // namespace

Normalisation normalisation_of(const Moments& moments, double eps) {
  Normalisation normalisation{moments.count, moments.mean, {}};
  for (double squares : moments.squares)
    normalisation.inverse_deviation.push_back(1 / std::sqrt(squares / moments.count + eps));
  return normalisation;
}

torch::Tensor normalise(const torch::Tensor& input, const Normalisation& normalisation,
                        const torch::Tensor& weight, const torch::Tensor& bias) {
  torch::Tensor output = torch::empty(input.sizes(), input.options());
  is_single(input) ? normalise_in<float>(input, normalisation, weight, bias, output)
                   : normalise_in<double>(input, normalisation, weight, bias, output);
  return output;
}

std::vector<double> gradient_sums(const torch::Tensor& gradient, const torch::Tensor& input,
                                  const Normalisation& normalisation) {
  return is_single(input) ? gradient_sums_in<float>(gradient, input, normalisation)
                          : gradient_sums_in<double>(gradient, input, normalisation);
}

torch::Tensor input_gradient(const torch::Tensor& gradient, const torch::Tensor& input,
                             const Normalisation& normalisation, const torch::Tensor& weight,
                             std::span<const double> sums) {
  torch::Tensor result = torch::empty(input.sizes(), input.options());
  is_single(input)
      ? input_gradient_in<float>(gradient, input, normalisation, weight, sums, result)
      : input_gradient_in<double>(gradient, input, normalisation, weight, sums, result);
  return result;
}

}  // namespace lockstep::ddp
