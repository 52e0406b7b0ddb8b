// Passes over contiguous tensors of [N, channels, …] in float32 or float64, channel by channel.
#pragma once

#include "base/check.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>

namespace lockstep::internal::ddp {

/// A channel of a sample is a contiguous row of values.
struct ChannelRows {
  explicit ChannelRows(const torch::Tensor& tensor)
      : samples(tensor.size(0)), channels(tensor.size(1)), row(1) {
    for (std::int64_t i = 2; i < tensor.dim(); ++i) row *= tensor.size(i);
  }
  std::int64_t at(std::int64_t sample, std::int64_t channel) const {
    return (sample * channels + channel) * row;
  }

  std::int64_t samples, channels, row;
};

/// Calls body(channel, begin of a row) for all rows, on torch's threads. One thread has all rows of
/// a channel, in sample order: sums do not depend on the number of threads.
template <typename Body>
void for_each_row(const ChannelRows& shape, const Body& body) {
  constexpr std::int64_t kValuesWorthAThread = 1 << 15;
  const std::int64_t values = std::max<std::int64_t>(1, shape.samples * shape.row);
  const std::int64_t grain = std::max<std::int64_t>(1, kValuesWorthAThread / values);
  at::parallel_for(0, shape.channels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sample = 0; sample < shape.samples; ++sample)
      for (std::int64_t channel = begin; channel < end; ++channel)
        body(static_cast<std::size_t>(channel), shape.at(sample, channel));
  });
}

/// Two sums over a row. Several partial sums allow the compiler to vectorise.
struct Pair {
  double first = 0;
  double second = 0;
};
template <typename Term>
Pair sums_over_row(std::int64_t length, const Term& term) {
  constexpr std::int64_t kLanes = 8;
  double first[kLanes] = {};
  double second[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= length; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const Pair pair = term(i + lane);
      first[lane] += pair.first;
      second[lane] += pair.second;
    }
  Pair sum;
  for (; i < length; ++i) {
    const Pair pair = term(i);
    sum.first += pair.first;
    sum.second += pair.second;
  }
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    sum.first += first[lane];
    sum.second += second[lane];
  }
  return sum;
}

/// Whether a tensor is float32; otherwise it is float64.
inline bool is_single(const torch::Tensor& tensor) {
  LOCKSTEP_CHECK(tensor.is_contiguous(), "batch norm got a tensor that is not contiguous");
  return tensor.scalar_type() == torch::kFloat32;
}

}  // namespace lockstep::internal::ddp
