#include "data/image_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace lockstep::internal::data {

namespace {

using Histogram = std::array<std::uint64_t, 256>;  // counts of each byte value in a channel

std::vector<Histogram> histograms_of(const Images& images) {
  const auto channels = static_cast<std::size_t>(images.shape.channels);
  const std::size_t plane = images.shape.pixels() / channels;
  std::vector<Histogram> histograms(channels);
  for (std::size_t i = 0; i < images.size() * channels; ++i)
    for (std::uint8_t byte : std::span(images.pixels).subspan(i * plane, plane))
      ++histograms[i % channels][byte];
  return histograms;
}

void add_channel(const Histogram& histogram, ImageStatistics& statistics) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t byte = 0; byte < histogram.size(); ++byte) {
    const auto times = static_cast<double>(histogram[byte]);
    const double value = static_cast<double>(byte);
    count += times;
    sum += times * value;
    squares += times * value * value;  // exact: far below 2^53
  }
  const double mean = sum / count;
  statistics.mean.push_back(mean / 255);
  statistics.deviation.push_back(std::sqrt(std::max(0.0, squares / count - mean * mean)) / 255);
}

}  // namespace

ImageStatistics image_statistics(const Images& images) {
  ImageStatistics statistics;
  statistics.class_counts.resize(static_cast<std::size_t>(images.classes));
  for (std::uint8_t label : images.labels) ++statistics.class_counts[label];
  for (const Histogram& histogram : histograms_of(images)) add_channel(histogram, statistics);
  return statistics;
}

}  // namespace lockstep::internal::data
