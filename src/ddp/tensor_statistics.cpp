#include "ddp/tensor_statistics.h"

#include "ddp/channel_rows.h"

namespace lockstep::internal::ddp {

namespace {

template <typename T>
ChannelStatistics statistics_in(const torch::Tensor& input) {
  const ChannelRows shape(input);
  const T* values = input.data_ptr<T>();
  const auto channels = static_cast<std::size_t>(shape.channels);
  ChannelStatistics statistics{static_cast<double>(shape.samples * shape.row),
                               std::vector<double>(channels), std::vector<double>(channels)};
  if (statistics.count == 0) return statistics;
  std::vector<Pair> sums(channels);
  for_each_row(shape, [&](std::size_t channel, std::int64_t begin) {
    const T origin = values[shape.at(0, static_cast<std::int64_t>(channel))];
    const T* row = values + begin;
    const Pair sum = sums_over_row(shape.row, [&](std::int64_t i) {
      const double value = row[i] - origin;
      return Pair{value, value * value};
    });
    sums[channel].first += sum.first;
    sums[channel].second += sum.second;
  });
  for (std::size_t c = 0; c < channels; ++c)
    statistics.set(c, values[shape.at(0, static_cast<std::int64_t>(c))], sums[c].first,
                   sums[c].second);
  return statistics;
}

}  // namespace

ChannelStatistics statistics_of(const torch::Tensor& input) {
  return is_single(input) ? statistics_in<float>(input) : statistics_in<double>(input);
}

}  // namespace lockstep::internal::ddp
