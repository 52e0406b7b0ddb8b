// top-k: every rank sends its k gradients of largest magnitude with their positions, and keeps the
// others for the next step. All ranks add all messages, in rank order.
#include "sync/compression/residuals.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace lockstep::internal::sync {

namespace {

/// Orders all values. NaN comes first, because it must reach the other ranks.
float magnitude(float value) {
  return std::isnan(value) ? std::numeric_limits<float>::infinity() : std::abs(value);
}

/// A magnitude that slightly more than k values reach, estimated from a sample; 0 for few values.
float likely_threshold(const std::vector<float>& values, std::size_t k) {
  constexpr std::size_t kSample = 1 << 13;
  if (values.size() < 8 * kSample) return 0;
  std::vector<float> sample;
  const std::size_t stride = values.size() / kSample;
  for (std::size_t i = 0; i < values.size(); i += stride) sample.push_back(magnitude(values[i]));
  const double fraction = static_cast<double>(k) / static_cast<double>(values.size());
  const auto wanted =
      static_cast<std::size_t>(1.3 * fraction * static_cast<double>(sample.size())) + 16;
  if (wanted >= sample.size()) return 0;
  const auto place = sample.begin() + static_cast<std::ptrdiff_t>(wanted);
  std::nth_element(sample.begin(), place, sample.end(), std::greater<>());
  return *place;
}

/// The positions of the k values of largest magnitude.
std::vector<std::uint32_t> largest(const std::vector<float>& values, std::size_t k) {
  std::vector<std::uint32_t> places;
  const float threshold = likely_threshold(values, k);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (magnitude(values[i]) >= threshold) places.push_back(static_cast<std::uint32_t>(i));
  if (places.size() < k) {
    places.resize(values.size());
    std::iota(places.begin(), places.end(), 0U);
  }
  std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(k) - 1,
                   places.end(), [&](std::uint32_t a, std::uint32_t b) {
                     return magnitude(values[a]) > magnitude(values[b]);
                   });
  places.resize(k);
  std::sort(places.begin(), places.end());  // additions in memory order are faster
  return places;
}

class TopK : public Compressor {
 public:
  explicit TopK(double fraction) : fraction_(fraction) {}

  void reduce(Group& group, const GradientBucket& bucket) override {
    const std::size_t count = bucket.gradients.count;
    if (count == 0) return;
    std::vector<float>& values = residuals_.with_gradients(bucket);
    const auto k = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(fraction_ * static_cast<double>(count))), 1, count);
    // A message has k positions, then k values.
    std::vector<std::uint32_t> mine = largest(values, k);
    mine.resize(2 * k);
    for (std::size_t i = 0; i < k; ++i) {
      std::memcpy(&mine[k + i], &values[mine[i]], sizeof(float));
      values[mine[i]] = 0;
    }
    std::vector<std::uint32_t> all(mine.size() * static_cast<std::size_t>(group.size()));
    group.all_gather({mine.data(), mine.size(), DataType::int32},
                     {all.data(), all.size(), DataType::int32});
    add_up(all, k, bucket, static_cast<float>(group.size()));
  }

 private:
  void add_up(const std::vector<std::uint32_t>& all, std::size_t k, const GradientBucket& bucket,
              float ranks) {
    sum_.assign(bucket.gradients.count, 0);
    for (std::size_t message = 0; message < all.size(); message += 2 * k)
      for (std::size_t i = message; i < message + k; ++i) {
        float value = 0;
        std::memcpy(&value, &all[i + k], sizeof value);
        sum_.at(all[i]) += value / ranks;
      }
    store(sum_, bucket.gradients);
  }

  const double fraction_;
  Residuals residuals_;
  std::vector<float> sum_;
};

}  // namespace

std::unique_ptr<Compressor> make_top_k(double fraction) {
  return std::make_unique<TopK>(fraction);
}

}  // namespace lockstep::internal::sync
