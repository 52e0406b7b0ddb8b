#include "ddp/channel_statistics.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::ddp {

void ChannelStatistics::set(std::size_t channel, double origin, double sum, double sum_of_squares) {
  const double shift = sum / count;
  mean[channel] = origin + shift;
  squares[channel] = std::max(0.0, sum_of_squares - shift * sum);
}

ChannelStatistics combine(std::span<const ChannelStatistics> parts) {
  ChannelStatistics all = parts.front();
  for (const ChannelStatistics& part : parts.subspan(1)) {
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

ChannelStatistics exchange(Group& group, const ChannelStatistics& mine) {
  // The count, then the means, then the squares.
  const std::size_t channels = mine.channels();
  std::vector<double> message{mine.count};
  message.insert(message.end(), mine.mean.begin(), mine.mean.end());
  message.insert(message.end(), mine.squares.begin(), mine.squares.end());
  std::vector<double> messages(message.size() * static_cast<std::size_t>(group.size()));
  group.all_gather(message, messages);

  std::vector<ChannelStatistics> all;
  for (auto at = messages.begin(); at != messages.end(); at += std::ssize(message)) {
    const auto squares = at + 1 + static_cast<std::ptrdiff_t>(channels);
    all.push_back({*at, {at + 1, squares}, {squares, at + std::ssize(message)}});
  }
  ChannelStatistics together = combine(all);
  if (together.count < 2)
    throw Error(
        fmt::format("batch norm needs more than one value per channel in training, but the "
                    "batches of all {} ranks together have {}",
                    group.size(), together.count));
  return together;
}

Normalisation normalisation_of(const ChannelStatistics& statistics, double eps) {
  Normalisation normalisation{statistics.count, statistics.mean, {}};
  for (double squares : statistics.squares)
    normalisation.inverse_deviation.push_back(1 / std::sqrt(squares / statistics.count + eps));
  return normalisation;
}

}  // namespace lockstep::internal::ddp
