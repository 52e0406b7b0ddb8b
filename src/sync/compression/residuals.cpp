#include "sync/compression/residuals.h"

#include <algorithm>
#include <bit>

namespace lockstep::internal::sync {

namespace {

/// Has no branch, so that loops vectorise.
bool is_finite(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0x7f80'0000U) != 0x7f80'0000U;
}

std::span<float> part_of(std::vector<float>& values, const GradientPart& part) {
  return std::span(values).subspan(part.begin, part.count);
}

/// kept = left, where it is finite.
void keep(std::span<float> kept, std::span<const float> left) {
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = is_finite(left[i]) ? left[i] : kept[i];
}

/// sum = gradients + kept, in pieces that stay in the cache.
void add_gradients(const ArrayView& gradients, std::span<const float> kept, std::span<float> sum) {
  constexpr std::size_t kPiece = 4096;
  for (std::size_t begin = 0; begin < sum.size(); begin += kPiece) {
    const std::span<float> piece = sum.subspan(begin, std::min(kPiece, sum.size() - begin));
    load(gradients.slice(begin, piece.size()), piece);
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] += kept[begin + i];
  }
}

}  // namespace

std::vector<float>& Residuals::with_gradients(const GradientBucket& bucket) {
  Bucket& its = place(bucket);
  const std::vector<GradientPart> parts = parts_of(bucket);
  for (const GradientPart& part : parts)
    if (!part.discarded) keep(part_of(its.kept, part), part_of(its.left, part));
  add_gradients(bucket.gradients, its.kept, its.left);
  return its.left;
}

Residuals::Bucket& Residuals::place(const GradientBucket& bucket) {
  const std::vector<GradientPart> parts = parts_of(bucket);
  Bucket& its = by_number_[bucket.number];
  if (its.left.size() == bucket.gradients.count && same_places(its.parts, parts)) return its;
  take_apart(bucket.number, parts);
  Bucket& fresh = by_number_[bucket.number];
  fresh.parts = parts;
  fresh.kept.assign(bucket.gradients.count, 0);
  fresh.left.assign(bucket.gradients.count, 0);
  for (const GradientPart& part : parts) {
    const auto moved = moving_.extract(part.parameter);
    if (!moved || moved.mapped().kept.size() != part.count) continue;
    std::ranges::copy(moved.mapped().kept, part_of(fresh.kept, part).begin());
    std::ranges::copy(moved.mapped().left, part_of(fresh.left, part).begin());
  }
  return fresh;
}

void Residuals::take_apart(std::size_t number, std::span<const GradientPart> parts) {
  const auto now_here = [&](const GradientPart& part) {
    return std::ranges::any_of(
        parts, [&](const GradientPart& other) { return other.parameter == part.parameter; });
  };
  for (auto entry = by_number_.begin(); entry != by_number_.end();) {
    auto& [its_number, bucket] = *entry;
    if (its_number != number && std::ranges::none_of(bucket.parts, now_here)) {
      ++entry;
      continue;
    }
    for (const GradientPart& part : bucket.parts) {
      const auto kept = part_of(bucket.kept, part), left = part_of(bucket.left, part);
      moving_[part.parameter] = {{kept.begin(), kept.end()}, {left.begin(), left.end()}};
    }
    entry = by_number_.erase(entry);
  }
}

}  // namespace lockstep::internal::sync
