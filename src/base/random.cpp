#include "base/random.h"

#include <numeric>
#include <utility>

namespace lockstep::internal {

namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ull;

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t a, std::uint64_t b)
    : state_(mix(mix(mix(seed + kGamma) ^ a) + kGamma) ^ b) {}

std::uint64_t Random::next() {
  state_ += kGamma;
  return mix(state_);
}

std::uint64_t Random::below(std::uint64_t bound) {
  // Rejects the first 2^64 mod bound values, so that the rest divides evenly.
  const std::uint64_t rejected = (0 - bound) % bound;
  for (;;) {
    std::uint64_t value = next();
    if (value >= rejected) return value % bound;
  }
}

std::vector<std::uint32_t> permutation(std::uint32_t count, Random random) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace lockstep::internal
