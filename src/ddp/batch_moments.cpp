#include "ddp/batch_moments.h"

#include "ddp/channel_rows.h"

#include <algorithm>

namespace lockstep::ddp {

namespace {

template <typename T>
Moments moments_in(const torch::Tensor& input) {
  const ChannelRows shape(input);
  const T* values = input.data_ptr<T>();
  const auto channels = static_cast<std::size_t>(shape.channels);
  Moments moments{static_cast<double>(shape.samples * shape.row), std::vector<double>(channels),
                  std::vector<double>(channels)};
  if (moments.count == 0) return moments;
  // Around one of the values: it is at most √count deviations from the mean, so that little
  // cancels.
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
  for (std::size_t c = 0; c < channels; ++c) {
    const double shift = sums[c].first / moments.count;
    moments.mean[c] = values[shape.at(0, static_cast<std::int64_t>(c))] + shift;
    moments.squares[c] = std::max(0.0, sums[c].second - shift * sums[c].first);
  }
  return moments;
}

}  // namespace

Moments moments_of(const torch::Tensor& input) {
  return is_single(input) ? moments_in<float>(input) : moments_in<double>(input);
}

Moments combine(std::span<const Moments> parts) {
  Moments all = parts.front();
  for (const Moments& part : parts.subspan(1)) {
    if (part.count == 0) continue;
    const double count = all.count + part.count;
    for (std::size_t c = 0; c < all.channels(); ++c) {
      const double apart = part.mean[c] - all.mean[c];
      all.mean[c] += apart * (part.count / count);
      all.squares[c] += part.squares[c] + apart * apart * (all.count * part.count / count);
    }
    all.count = count;
  }
  return all;
}

}  // namespace lockstep::ddp
