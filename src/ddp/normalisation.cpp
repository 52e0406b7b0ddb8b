#include "ddp/normalisation.h"

#include "ddp/channel_rows.h"

namespace lockstep::internal::ddp {

namespace {

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
    const ForwardTerms<T> terms(normalisation, channel, element(weight, channel),
                                element(bias, channel));
    for (std::int64_t i = begin; i < begin + shape.row; ++i)
      to[i] = (from[i] - terms.origin) * terms.scale + terms.shift;
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
  for_each_row(shape, [&](std::size_t channel, std::int64_t begin) {
    const BackwardTerms<T> terms(normalisation, channel, element(weight, channel), sums[channel],
                                 sums[channels + channel]);
    for (std::int64_t i = begin; i < begin + shape.row; ++i)
      to[i] = gradients[i] * terms.of_gradient + (values[i] - terms.origin) * terms.of_value +
              terms.shift;
  });
}

}  // namespace

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

}  // namespace lockstep::internal::ddp
